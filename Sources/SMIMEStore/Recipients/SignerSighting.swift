package import Foundation
package import InternetMessage
package import PKIX

/// What the registry can learn about the author of a verified message.
///
/// The caller guarantees that the message was valid, that one signature covered all of it, and that the signer's
/// certificate names `address`.
package struct SignerSighting: Sendable {
    /// The author's address, the only address for which something is learned.
    package let address: EmailAddress
    /// The signer's certificate.
    package let certificate: Certificate
    /// Another certificate of the author, for encryption; nil if there is none.
    package let encryptionCertificate: Certificate?
    /// The CA certificates between the signer's certificate and an anchor.
    package let authorities: [Certificate]
    /// Whether the chain leads to an anchor. If it does not, only certificates that are already known for the address are
    /// updated; no new one is stored.
    package let isAnchored: Bool
    /// The DER of the SMIMECapabilities that the author announced; nil if there are none.
    package let capabilities: [UInt8]?
    /// The signing time that the author claims; nil if there is none, or none that can be read.
    package let signingTime: Date?
    /// The Message-ID as written. It is not protected by the signature.
    package let messageID: String?

    /// Only verified data may be passed; `scripts/check` checks the callers.
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

    /// The certificates to learn. Certificates that do not name the author, and CA certificates, are left out.
    var certificates: [Certificate] {
        let all = [certificate] + [encryptionCertificate].compactMap { $0 == certificate ? nil : $0 }
        return all.filter { !$0.isCertificateAuthority && $0.names(address) }
    }
}
