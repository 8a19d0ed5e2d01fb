import COpenSSL

extension Owned<PKCS8_PRIV_KEY_INFO> {
    /// Parses the DER of a PrivateKeyInfo, version 1. The caller must wipe `pkcs8`.
    ///
    /// libcrypto: `d2i_PKCS8_PRIV_KEY_INFO`
    package init(pkcs8: [UInt8]) throws(OpenSSLError) {
        Libcrypto.start()
        let pointer = pkcs8.decoded { d2i_PKCS8_PRIV_KEY_INFO(nil, $0, $1) }
        try self.init(pointer, "d2i_PKCS8_PRIV_KEY_INFO")
    }
}

/// Reads keys from their encodings and encodes them.
extension Handle<EVP_PKEY> {
    /// Reads the DER of a SubjectPublicKeyInfo.
    ///
    /// libcrypto: `d2i_PUBKEY_ex`
    package convenience init(publicKeyInfo: [UInt8]) throws(OpenSSLError) {
        Libcrypto.start()
        let pointer = publicKeyInfo.decoded { d2i_PUBKEY_ex(nil, $0, $1, nil, nil) }
        self.init(try Owned<EVP_PKEY>(pointer, "d2i_PUBKEY_ex"))
    }

    /// Creates the key that a PrivateKeyInfo describes.
    ///
    /// libcrypto: `EVP_PKCS82PKEY_ex`
    package convenience init(_ info: borrowing Owned<PKCS8_PRIV_KEY_INFO>) throws(OpenSSLError) {
        defer { StackResidue.wipe() }
        let key = try info.withPointer { info throws(OpenSSLError) in
            try Owned<EVP_PKEY>(EVP_PKCS82PKEY_ex(info, nil, nil), "EVP_PKCS82PKEY_ex")
        }
        self.init(key)
    }

    /// Reads the DER of an RSAPrivateKey, an ECPrivateKey or a traditional DSA key.
    ///
    /// libcrypto: `d2i_AutoPrivateKey_ex`
    package convenience init(traditional secret: SecretBytes) throws(OpenSSLError) {
        Libcrypto.start()
        defer { StackResidue.wipe() }
        let pointer = secret.withUnsafeBytes { bytes in
            var start = bytes.bindMemory(to: UInt8.self).baseAddress
            return d2i_AutoPrivateKey_ex(nil, &start, bytes.count, nil, nil)
        }
        self.init(try Owned<EVP_PKEY>(pointer, "d2i_AutoPrivateKey_ex"))
    }

    /// Decrypts a private key in a PEM block with OpenSSL's traditional encryption; nil if the passphrase is wrong or
    /// libcrypto cannot read the block.
    ///
    /// libcrypto: `PEM_read_bio_PrivateKey_ex`
    package convenience init?(encryptedPEM text: [UInt8], passphrase: borrowing Passphrase) {
        Libcrypto.start()
        defer {
            ERR_clear_error()
            StackResidue.wipe()
        }
        let pointer = passphrase.withUnsafeBytes { passphrase in
            text.withUnsafeBytes { text in
                withUnsafePointer(to: passphrase) { Self.readPEM(text, passphrase: $0) }
            }
        }
        guard let key = Owned<EVP_PKEY>(adopting: pointer) else { return nil }
        self.init(key)
    }

    private static func readPEM(
        _ text: UnsafeRawBufferPointer,
        passphrase: UnsafePointer<UnsafeBufferPointer<UInt8>>
    ) -> OpaquePointer? {
        let input = Owned<BIO>(adopting: BIO_new_mem_buf(text.baseAddress, CInt(clamping: text.count)))
        return input?.withPointer { input in
            let lend: @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt = {
                buffer,
                size,
                _,
                context in
                guard let buffer, let passphrase = context?.load(as: UnsafeBufferPointer<UInt8>.self),
                    passphrase.count <= size
                else { return -1 }
                UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyBytes(from: passphrase)
                return CInt(passphrase.count)
            }
            return PEM_read_bio_PrivateKey_ex(input, nil, lend, UnsafeMutableRawPointer(mutating: passphrase), nil, nil)
        }
    }

    /// The DER of the SubjectPublicKeyInfo.
    ///
    /// libcrypto: `i2d_PUBKEY`
    package func publicKeyInfo() throws(OpenSSLError) -> [UInt8] {
        try owned.withPointer { key throws(OpenSSLError) in
            var encoding: UnsafeMutablePointer<UInt8>?
            let count = i2d_PUBKEY(key, &encoding)
            guard count > 0, let encoding else { throw OpenSSLError("i2d_PUBKEY") }
            defer { smime_OPENSSL_free(encoding) }
            return Array(UnsafeBufferPointer(start: encoding, count: Int(count)))
        }
    }

    /// Lends the key's PKCS#8 PrivateKeyInfo to `body` and wipes it afterwards.
    ///
    /// libcrypto: `EVP_PKEY2PKCS8`, `i2d_PKCS8_PRIV_KEY_INFO`
    package func withPKCS8<Value>(_ body: (Span<UInt8>) throws -> Value) throws -> Value {
        defer { StackResidue.wipe() }
        let info = try owned.withPointer { key throws(OpenSSLError) in
            try Owned<PKCS8_PRIV_KEY_INFO>(EVP_PKEY2PKCS8(key), "EVP_PKEY2PKCS8")
        }
        return try info.withPointer { info in
            var encoding: UnsafeMutablePointer<UInt8>?
            let count = i2d_PKCS8_PRIV_KEY_INFO(info, &encoding)
            guard count > 0, let encoding else { throw OpenSSLError("i2d_PKCS8_PRIV_KEY_INFO") }
            defer { smime_OPENSSL_clear_free(encoding, Int(count)) }
            return try body(Span(_unsafeElements: UnsafeBufferPointer(start: encoding, count: Int(count))))
        }
    }

    /// Whether both keys have the same public key.
    ///
    /// libcrypto: `EVP_PKEY_eq`
    package func hasSamePublicKey(as other: Handle<EVP_PKEY>) -> Bool {
        defer { ERR_clear_error() }
        return withPointers(owned, other.owned) { EVP_PKEY_eq($0, $1) == 1 }
    }
}
