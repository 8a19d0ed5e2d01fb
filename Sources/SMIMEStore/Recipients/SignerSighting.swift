package import Foundation
package import InternetMessage
package import PKIX

/// What the registry learns from one verified message about its author.
///
/// The caller guarantees that the message was valid, that one signature covered all of it, and that the signer's
/// certificate names `address`.
package struct SignerSighting: Sendable {
    /// The author's address, for which alone something is learned.
    package let address: EmailAddress
    /// The certificate that made the signature.
    package let certificate: Certificate
    /// Another certificate of the author's, for encryption.
    package let encryptionCertificate: Certificate?
    /// The authorities between the certificate and an anchor.
    package let authorities: [Certificate]
    /// Whether the chain leads to an anchor. Without one nothing is bound to an address that was not before.
    package let isAnchored: Bool
    /// The DER of the SMIMECapabilities that the author announced.
    package let capabilities: [UInt8]?
    /// When the author says that it was signed.
    package let signingTime: Date?
    /// The Message-ID as it is written, which nothing protects.
    package let messageID: String?

    /// Only what was verified may come here; `scripts/check` sees to it.
    package init(
        address: EmailAddress,
        certificate: Certificate,
        encryptionCertificate: Certificate? = nil,
        authorities: [Certificate] = [],
        isAnchored: Bool = true,
        capabilities: [UInt8]? = nil,
        signingTime: Date? = nil,
        messageID: String? = nil
    ) {
        self.address = address
        self.certificate = certificate
        self.encryptionCertificate = encryptionCertificate
        self.authorities = authorities
        self.isAnchored = isAnchored
        self.capabilities = capabilities
        self.signingTime = signingTime
        self.messageID = messageID
    }

    /// The certificates that are learned; whatever else was claimed, they name the author and are no authorities.
    var certificates: [Certificate] {
        let all = [certificate] + [encryptionCertificate].compactMap { $0 == certificate ? nil : $0 }
        return all.filter { !$0.isCertificateAuthority && $0.names(address) }
    }
}
