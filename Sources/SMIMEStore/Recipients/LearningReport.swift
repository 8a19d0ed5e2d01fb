public import InternetMessage
public import PKIX

/// The result of learning from verified messages.
public struct LearningReport: Sendable {
    /// How a certificate relates to what was known of its address.
    public enum Kind: String, Sendable {
        /// By another issuer or for another key than those known.
        case changed
        /// The first certificate of the address.
        case learned
        /// The same key by the same issuer.
        case renewed
    }

    /// One certificate that is new for an address.
    public struct Entry: Sendable {
        /// Its owner.
        public let address: EmailAddress
        /// The new certificate.
        public let certificate: Certificate
        /// How it relates to the known certificates.
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
    /// Whether the store changed; a new date of the last message is a change, too.
    public internal(set) var changesStore = false

    package init() {}
}
