package import LibCrypto

extension Certificate {
    /// The public key as libcrypto's object.
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

    private static let recentKeys = BoundedCache<EncodingKey, Handle<EVP_PKEY>>(capacity: 64)

    /// The certificate as libcrypto's object.
    ///
    /// It is kept for a while: libcrypto reads the public key along with a certificate, which takes as long
    /// as several signatures, and the same few stand above everybody. A DSA key may be given its issuer's parameters where a
    /// chain is verified, so an object with one is for one use.
    package func x509() throws(OpenSSLError) -> Handle<X509> {
        guard der.count <= Self.keptCount, !publicKeyAlgorithm.isDSA else { return try madeX509() }
        return try Self.recentObjects.value(for: self) { () throws(OpenSSLError) in try madeX509() }
    }

    private static let recentObjects = BoundedCache<Certificate, Handle<X509>>(capacity: 64)

    private func madeX509() throws(OpenSSLError) -> Handle<X509> { try Handle(certificate: der) }
}

extension Certificate {
    /// Whether an extension that libcrypto heeds is not as RFC 5280 §4.2 has it: a key usage without bits, a negative path
    /// length. It finds neither issuers nor issued certificates for such a one.
    var hasMalformedExtension: Bool { (try? x509())?.hasMalformedExtension ?? false }
}
