public import CMS
public import Foundation
public import MIME

/// What one verified message showed of its author, for the registry to remember.
///
/// Whoever makes one vouches that the message was valid, that one signature covered it whole, and that the signer's
/// certificate names `address`.
public struct SignerSighting: Sendable {
    /// The author's address, for which alone something is learned.
    public let address: EmailAddress
    /// The certificate that made the signature.
    public let certificate: Certificate
    /// Another certificate of the author's, for encryption.
    public let encryptionCertificate: Certificate?
    /// The authorities between the certificate and an anchor.
    public let authorities: [Certificate]
    /// Whether the chain leads to an anchor. Without one nothing is bound to an address that was not before.
    public let isAnchored: Bool
    /// The DER of the SMIMECapabilities that the author announced.
    public let capabilities: [UInt8]?
    /// When the author says that it was signed.
    public let signingTime: Date?
    /// The Message-ID as it is written, which nothing protects.
    public let messageID: String?

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

/// What is done with a new certificate that does not continue what was known of an address.
public enum ChangePolicy: String, CaseIterable, Sendable {
    /// It is not used until someone trusts it by hand.
    case hold
    /// It is used as any other.
    case use
}

/// What was learned from verified messages.
public struct LearningReport: Sendable {
    /// How a certificate relates to what was known of its address.
    public enum Kind: String, Sendable {
        /// By another issuer or for another key than those known.
        case changed
        /// The first of the address.
        case learned
        /// The same key by the same issuer.
        case renewed
    }

    /// One certificate that is new for an address.
    public struct Entry: Sendable {
        /// Whose it is.
        public let address: EmailAddress
        /// The new certificate.
        public let certificate: Certificate
        /// What it is to those known before.
        public let kind: Kind
        /// Whether it is not used until someone trusts it by hand.
        public let isHeld: Bool
        /// The newest of those known before.
        public let previous: Certificate?
        /// The Message-ID of the mail that showed it.
        public let messageID: String?
    }

    /// The certificates that were not known for their addresses.
    public internal(set) var entries: [Entry] = []
    /// Certificates that were known for their address.
    public internal(set) var known: [(address: EmailAddress, certificate: Certificate)] = []
    /// Whether the store is changed by it, be it a date of last sight.
    public internal(set) var changesStore = false

    public init() {}
}

extension ImportReport {
    /// Adds what was learned from mail to the recipients.
    public mutating func add(_ report: LearningReport) {
        let learned = report.entries.map { Entry(address: .init($0.address), certificate: $0.certificate, isNew: true) }
        let known = report.known.map { Entry(address: .init($0.address), certificate: $0.certificate, isNew: false) }
        // Somebody who wrote a thousand times is named once.
        for entry in learned + known
        where fromMail.insert("\(entry.address.key) \(entry.certificate.fingerprint)").inserted {
            recipients.append(entry)
        }
    }
}
