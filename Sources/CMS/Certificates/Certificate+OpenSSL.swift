import COpenSSL

extension Certificate {
    /// The public key as libcrypto's object.
    ///
    /// libcrypto: `d2i_PUBKEY_ex`
    package func publicKey() throws(OpenSSLError) -> Handle<EVP_PKEY> {
        guard publicKeyInfo.count <= Self.keptCount else { return try madeKey() }
        return try Self.recentKeys.value(for: EncodingKey(bytes: publicKeyInfo)) { () throws(OpenSSLError) in
            try madeKey()
        }
    }

    private func madeKey() throws(OpenSSLError) -> Handle<EVP_PKEY> {
        if let key = RSAKey(publicKeyInfo: publicKeyInfo) { return key.handle }
        return try Handle(publicKeyInfo: publicKeyInfo)
    }

    private static let recentKeys = RecentValues<EncodingKey, Handle<EVP_PKEY>>(capacity: 64)

    /// The certificate as libcrypto's object.
    ///
    /// It is kept for a while: libcrypto reads the public key along with a certificate, which takes as long
    /// as several signatures, and the same few stand above everybody. A DSA key may be given its issuer's parameters where a
    /// chain is verified, so an object with one is for one use.
    package func x509() throws(OpenSSLError) -> Handle<X509> {
        guard der.count <= Self.keptCount, !publicKeyAlgorithm.isDSA else { return try madeX509() }
        return try Self.recentObjects.value(for: self) { () throws(OpenSSLError) in try madeX509() }
    }

    private static let recentObjects = RecentValues<Certificate, Handle<X509>>(capacity: 64)

    /// libcrypto: `d2i_X509`
    private func madeX509() throws(OpenSSLError) -> Handle<X509> {
        Libcrypto.start()
        var start: UnsafePointer<UInt8>?
        let pointer = der.withUnsafeBufferPointer { bytes in
            start = bytes.baseAddress
            return d2i_X509(nil, &start, bytes.count)
        }
        return Handle(try Owned<X509>(pointer, "d2i_X509"))
    }
}

extension Certificate {
    /// Whether an extension that libcrypto heeds is not as RFC 5280 §4.2 has it: a key usage without bits, a negative path
    /// length. It finds neither issuers nor issued certificates for such a one.
    ///
    /// libcrypto: `X509_get_extension_flags`
    var hasMalformedExtension: Bool {
        defer { ERR_clear_error() }
        let flags = (try? x509())?.owned.withPointer { X509_get_extension_flags($0) } ?? 0
        return flags & UInt32(EXFLAG_INVALID) != 0
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
