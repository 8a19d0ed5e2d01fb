/// A private key with its certificate, and the certificates that accompany it.
public struct Identity: Sendable {
    /// The certificate about `key`.
    public let certificate: Certificate
    /// The private key, ready for use.
    public let key: PrivateKey
    /// The certificates above `certificate`, and others that a signature carries along.
    public var chain: [Certificate]
    /// The certificate that others are to encrypt to, if that is not the one that signs (RFC 8551 §2.5.3).
    public var encryptionCertificate: Certificate?
    /// The unescaped name in a PKCS#12 file: escape it before showing it.
    public let friendlyName: String?

    /// An identity that is not checked: the caller knows that the key belongs to the certificate, or checks it itself.
    package init(
        unchecked certificate: Certificate,
        _ key: PrivateKey,
        chain: [Certificate] = [],
        friendlyName: String? = nil
    ) {
        self.certificate = certificate
        self.key = key
        self.chain = chain
        self.friendlyName = friendlyName
    }
}

extension Identity: CustomStringConvertible {
    /// The owner and the certificate's fingerprint, without the key.
    public var description: String { "\(certificate.subject) (\(certificate.fingerprint))" }
}
