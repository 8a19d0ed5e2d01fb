package import LibCrypto

extension Certificate {
    /// The public key as an object of libcrypto.
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

    private static let recentKeys = BoundedCache<EncodingKey, Handle<EVP_PKEY>>(capacity: 128)

    /// The certificate as an object of libcrypto.
    ///
    /// The object is cached, because libcrypto also decodes the public key, which takes as long as several signatures, and
    /// most chains share a few authorities. An object with a DSA key is used only once, because the verification of a chain
    /// may add the issuer's parameters to the key.
    package func x509() throws(OpenSSLError) -> Handle<X509> {
        guard der.count <= Self.keptCount, !publicKeyAlgorithm.isDSA else { return try madeX509() }
        return try Self.recentObjects.value(for: self) { () throws(OpenSSLError) in try madeX509() }
    }

    private static let recentObjects = BoundedCache<Certificate, Handle<X509>>(capacity: 64)

    private func madeX509() throws(OpenSSLError) -> Handle<X509> { try Handle(certificate: der) }
}

extension Certificate {
    /// Whether an extension that libcrypto evaluates violates RFC 5280 §4.2, for example a key usage without bits or a
    /// negative path length. libcrypto finds neither issuers nor issued certificates of such a certificate.
    var hasMalformedExtension: Bool { (try? x509())?.hasMalformedExtension ?? false }
}
