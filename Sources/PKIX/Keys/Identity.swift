/// A private key with its certificate, and the certificates that accompany it.
public struct Identity: Sendable {
    /// The certificate of `key`.
    public let certificate: Certificate
    /// The private key, ready for use.
    public let key: PrivateKey
    /// The issuers of `certificate`, and other certificates that a signature includes.
    public var chain: [Certificate]
    /// The certificate that others should encrypt to; nil if that is the signing certificate (RFC 8551 §2.5.3).
    public var encryptionCertificate: Certificate?
    /// The name in a PKCS#12 file. It is not escaped: escape it before displaying it.
    public let friendlyName: String?

    /// Creates an identity without checks. The caller must make sure that the key belongs to the certificate.
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
    /// The owner's name and the certificate's fingerprint, without the key.
    public var description: String { "\(certificate.subject) (\(certificate.fingerprint))" }
}
