import COpenSSL

extension Certificate {
    /// The public key as libcrypto's object, made afresh.
    ///
    /// libcrypto: `d2i_PUBKEY_ex`
    package func publicKey() throws(OpenSSLError) -> Handle<EVP_PKEY> {
        if let key = RSAKey(publicKeyInfo: publicKeyInfo) { return key.handle }
        return try Handle(publicKeyInfo: publicKeyInfo)
    }

    /// The certificate as libcrypto's object, made afresh.
    ///
    /// libcrypto: `d2i_X509`
    package func x509() throws(OpenSSLError) -> Handle<X509> {
        Libcrypto.start()
        var start: UnsafePointer<UInt8>?
        let pointer = der.withUnsafeBufferPointer { bytes in
            start = bytes.baseAddress
            return d2i_X509(nil, &start, bytes.count)
        }
        return Handle(try Owned<X509>(pointer, "d2i_X509"))
    }
}

extension Handle<EVP_PKEY> {
    /// Reads the DER of a SubjectPublicKeyInfo.
    ///
    /// libcrypto: `d2i_PUBKEY_ex`
    package convenience init(publicKeyInfo: [UInt8]) throws(OpenSSLError) {
        Libcrypto.start()
        let pointer = publicKeyInfo.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_PUBKEY_ex(nil, &start, bytes.count, nil, nil)
        }
        self.init(try Owned<EVP_PKEY>(pointer, "d2i_PUBKEY_ex"))
    }

    /// The DER of the SubjectPublicKeyInfo.
    ///
    /// libcrypto: `i2d_PUBKEY`
    func publicKeyInfo() throws(OpenSSLError) -> [UInt8] {
        try owned.withPointer { key throws(OpenSSLError) in
            var encoding: UnsafeMutablePointer<UInt8>?
            let count = i2d_PUBKEY(key, &encoding)
            guard count > 0, let encoding else { throw OpenSSLError("i2d_PUBKEY") }
            defer { smime_OPENSSL_free(encoding) }
            return Array(UnsafeBufferPointer(start: encoding, count: Int(count)))
        }
    }
}
