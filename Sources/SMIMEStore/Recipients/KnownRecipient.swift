public import Foundation
public import PKIX

/// A certificate that is known for an address, or for every address of a domain.
public struct KnownRecipient: Sendable {
    /// The origin of a certificate.
    @nonexhaustive
    public enum Source: String, Sendable {
        /// Given by hand for this address.
        case added
        /// Printed by the program of the setting `lookup.command`, and not kept here.
        case command
        /// Found in a directory of certificates, and not kept here.
        case directory
        /// Given for every address of the domain.
        case domain
        /// Learned from signed mail.
        case harvest
        /// Our own: the store holds its private key.
        case identity
        /// From a file of certificates.
        case imported = "import"
        /// Found in an LDAP directory, and not kept here.
        case ldap
        /// Found in a DNS record SMIMEA (RFC 8162), and not kept here.
        case smimea
    }

    /// Why it may be believed.
    @nonexhaustive
    public enum Trust: String, Sendable {
        /// When it chains to an anchor.
        case chain
        /// Never.
        case distrusted
        /// Not used until a user trusts it: it would replace another one.
        case held
        /// Always: someone compared its fingerprint.
        case pinned
    }

    /// Whether it is used without a manual decision.
    var isBelieved: Bool { trust == .chain || trust == .pinned }

    /// Its owner: an address, or a whole domain.
    package let address: AddressScope
    /// Whose certificate it is: an address, or a domain behind an at sign.
    public var owner: String { address.text }
    /// The certificate to encrypt to.
    public let certificate: Certificate
    /// Its first origin.
    public let source: Source
    /// More about the source, such as the Message-ID of the mail it was learned from.
    public let sourceDetail: String?
    /// When it came to the store.
    public let firstSeen: Date
    /// When it was last met; from mail it is brought up to date once a day at the most.
    public let lastSeen: Date
    /// How far the user believes that it is the address's.
    public let trust: Trust
    /// The DER of the SMIMECapabilities the owner announced last (RFC 8551 §2.5.2).
    public let capabilities: [UInt8]?
    /// When the capabilities were announced.
    package let capabilitiesTime: Date?
    /// The place of the source that it was found in: 0 for the registry, then in the order in which they are asked.
    package let rank: Int
    /// Whether it is for an address of our own account but its private key is not in the store, while other keys of the account are. False
    /// if a user added it for the address or pinned it.
    var lacksKey = false
    /// What `announced` has read.
    let announcement = MadeOnce<[SMIMECapability]?>()
    /// The columns of the certificate; nil for one from another source.
    var record: VerdictRecord?

    package init(
        address: AddressScope,
        certificate: Certificate,
        source: Source,
        sourceDetail: String? = nil,
        firstSeen: Date,
        lastSeen: Date,
        trust: Trust = .chain,
        capabilities: [UInt8]? = nil,
        capabilitiesTime: Date? = nil,
        rank: Int = 0
    ) {
        self.address = address
        self.certificate = certificate
        self.source = source
        self.sourceDetail = sourceDetail
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.trust = trust
        self.capabilities = capabilities
        self.capabilitiesTime = capabilitiesTime
        self.rank = rank
    }
}
