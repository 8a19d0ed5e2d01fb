package import Foundation
public import InternetMessage
public import PKIX

/// The result of learning from verified messages.
public struct LearningReport: Sendable {
    /// How a certificate relates to the certificates that were known for its address.
    @nonexhaustive
    public enum Kind: String, Sendable {
        /// The issuer or the key is not that of a known certificate.
        case changed
        /// The certificate is the first one of the address.
        case learned
        /// The certificate has the key and the issuer of a known one.
        case renewed
    }

    /// A certificate that is new for an address.
    public struct Entry: Sendable {
        /// The address of the certificate's owner.
        public let address: EmailAddress
        /// The new certificate.
        public let certificate: Certificate
        /// How the certificate relates to the known certificates.
        public let kind: Kind
        /// Whether the certificate is not used until a user trusts it.
        public let isHeld: Bool
        /// The newest certificate that was known before, trusted ones preferred; nil if there was none.
        public let previous: Certificate?
        /// The Message-ID of the mail with the certificate; nil if it has none.
        public let messageID: String?
    }

    /// The certificates that were not known for their addresses before.
    public internal(set) var entries: [Entry] = []
    /// The certificates that were already known for their addresses.
    public internal(set) var known: [(address: EmailAddress, certificate: Certificate)] = []
    /// Whether the store was changed. A new date of the last sighting counts as a change.
    public internal(set) var changesStore = false

    package init() {}
}

/// How to treat a new certificate of a known address if no trusted certificate of the address has the same key and issuer.
package enum ChangePolicy: String, CaseIterable, Sendable {
    /// The certificate is not used until a user trusts it.
    case hold
    /// The certificate is used if the address has a trusted certificate for the same key, or if it has the same trust
    /// anchor as a certificate learned before. Otherwise it is not used until a user trusts it. The anchor does not suffice
    /// if a user imported or pinned a trusted certificate of the address.
    case sameRoot = "same-root"
    /// The certificate is used like any other.
    case use
}

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
