import COpenSSL

/// A function that derives a key from an agreed secret.
///
/// libcrypto: `EVP_KDF_derive`
package enum KeyDerivationFunction {
    /// HKDF, extract and expand (RFC 5869).
    case hkdf(salt: [UInt8], info: [UInt8])
    /// The key derivation function of ANSI X9.63 (SEC 1 §3.6.1).
    case x963(info: [UInt8])

    /// Derives `count` bytes from `secret`.
    package func derive(_ secret: SecretBytes, digest: DigestAlgorithm, count: Int) throws(OpenSSLError) -> SecretBytes
    {
        let kdf = try Owned<EVP_KDF>(EVP_KDF_fetch(nil, name, nil), "EVP_KDF_fetch")
        let context = try kdf.withPointer { kdf throws(OpenSSLError) in
            try Owned<EVP_KDF_CTX>(EVP_KDF_CTX_new(kdf), "EVP_KDF_CTX_new")
        }
        return try secret.withUnsafeBytes { secret throws(OpenSSLError) in
            try SecretBytes(filling: count) { output throws(OpenSSLError) in
                let target = output.bindMemory(to: UInt8.self).baseAddress
                let result = withParameters(secret, digest) { parameters in
                    context.withPointer { EVP_KDF_derive($0, target, count, parameters) }
                }
                try check(result, "EVP_KDF_derive")
            }
        }
    }

    private var name: String {
        switch self {
        case .hkdf: "HKDF"
        case .x963: "X963KDF"
        }
    }

    /// Lends the parameters to `body`. libcrypto only reads the values that the parameters point to, and only during the
    /// call.
    private func withParameters(
        _ secret: UnsafeRawBufferPointer,
        _ digest: DigestAlgorithm,
        body: (UnsafePointer<OSSL_PARAM>) -> CInt
    ) -> CInt {
        var (salt, info, secretName) = ([UInt8](), [UInt8](), smime_OSSL_KDF_PARAM_SECRET())
        switch self {
        case .hkdf(let given, let context): (salt, info, secretName) = (given, context, smime_OSSL_KDF_PARAM_KEY())
        case .x963(let context): info = context
        }
        var digestName = Array(digest.libcryptoName.utf8CString)
        let secretStart = UnsafeMutableRawPointer(mutating: secret.baseAddress)
        return info.withUnsafeMutableBytes { info in
            salt.withUnsafeMutableBytes { salt in
                digestName.withUnsafeMutableBufferPointer { digest in
                    var parameters = [
                        OSSL_PARAM_construct_utf8_string(smime_OSSL_KDF_PARAM_DIGEST(), digest.baseAddress, 0),
                        OSSL_PARAM_construct_octet_string(secretName, secretStart, secret.count),
                        OSSL_PARAM_construct_octet_string(
                            smime_OSSL_KDF_PARAM_INFO(),
                            info.baseAddress,
                            info.count
                        ),
                    ]
                    if !salt.isEmpty {
                        let name = smime_OSSL_KDF_PARAM_SALT()
                        parameters.append(OSSL_PARAM_construct_octet_string(name, salt.baseAddress, salt.count))
                    }
                    parameters.append(OSSL_PARAM_construct_end())
                    return body(parameters)
                }
            }
        }
    }
}
