public import PKIX

/// What an import did: everything it named, and whether the store was changed by it.
public struct ImportReport: Sendable {
    /// A certificate and the account or recipient address it was stored for.
    public struct Entry: Sendable {
        /// The account's or recipient's address, or a domain.
        package let address: AddressScope
        /// What was stored.
        public let certificate: Certificate
        /// Whether it was not stored for this address before.
        public let isNew: Bool
    }

    /// An intermediate or an anchor.
    public struct Authority: Sendable {
        /// What was stored.
        public let certificate: Certificate
        /// Whether it was not stored as such before.
        public let isNew: Bool
    }

    /// A certificate revocation list.
    public struct RevocationList: Sendable {
        /// What was stored.
        public let list: CertificateList
        /// Whether it was not stored before.
        public let isNew: Bool
    }

    /// One entry for each account that got one.
    public internal(set) var identities: [Entry] = []
    /// One entry for each address or domain that got one.
    public internal(set) var recipients: [Entry] = []
    /// The authorities that are not trusted by themselves.
    public internal(set) var intermediates: [Authority] = []
    /// The certificates that are trusted.
    public internal(set) var anchors: [Authority] = []
    /// The revocation lists that were given.
    public internal(set) var crls: [RevocationList] = []
    /// The recipients that were learned from mail.
    var fromMail: Set<String> = []

    /// Whether there was anything to store, known or new.
    package var isFruitful: Bool {
        !identities.isEmpty || !recipients.isEmpty || !intermediates.isEmpty || !anchors.isEmpty || !crls.isEmpty
    }
}
