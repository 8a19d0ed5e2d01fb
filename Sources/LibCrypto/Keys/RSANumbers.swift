import COpenSSL

extension Handle<EVP_PKEY> {
    /// Builds an RSA key from its numbers; nil if libcrypto rejects them.
    ///
    /// libcrypto: `EVP_PKEY_fromdata`, EVP_PKEY-RSA(7)
    ///
    /// - Parameters:
    ///   - numbers: the numbers in the order of RSAPrivateKey (a public key has only the first two), each in the byte order
    ///     of this processor.
    ///   - counts: the length of each number in bytes.
    package convenience init?(rsaNumbers numbers: SecretBytes, counts: [Int], isPrivate: Bool) {
        guard counts.reduce(0, +) == numbers.count else { return nil }
        Libcrypto.start()
        defer { ERR_clear_error() }
        let key = numbers.withUnsafeBytes { buffer -> OpaquePointer? in
            guard let start = UnsafeMutableRawPointer(mutating: buffer.baseAddress),
                let context = Owned<EVP_PKEY_CTX>(adopting: EVP_PKEY_CTX_new_from_name(nil, "RSA", nil))
            else { return nil }
            var position = 0
            var parameters = zip(Self.names, counts).map { name, count in
                defer { position += count }
                return OSSL_PARAM_construct_BN(name, (start + position).assumingMemoryBound(to: UInt8.self), count)
            }
            parameters.append(OSSL_PARAM_construct_end())
            var key: OpaquePointer?
            let selection = isPrivate ? smime_EVP_PKEY_KEYPAIR() : smime_EVP_PKEY_PUBLIC_KEY()
            let isMade = context.withPointer {
                EVP_PKEY_fromdata_init($0) == 1 && EVP_PKEY_fromdata($0, &key, selection, &parameters) == 1
            }
            return isMade ? key : nil
        }
        guard let owned = Owned<EVP_PKEY>(adopting: key) else { return nil }
        self.init(owned)
    }

    private static var names: [UnsafePointer<CChar>?] {
        [
            smime_OSSL_PKEY_PARAM_RSA_N(), smime_OSSL_PKEY_PARAM_RSA_E(), smime_OSSL_PKEY_PARAM_RSA_D(),
            smime_OSSL_PKEY_PARAM_RSA_FACTOR1(), smime_OSSL_PKEY_PARAM_RSA_FACTOR2(),
            smime_OSSL_PKEY_PARAM_RSA_EXPONENT1(), smime_OSSL_PKEY_PARAM_RSA_EXPONENT2(),
            smime_OSSL_PKEY_PARAM_RSA_COEFFICIENT1(),
        ]
    }
}
