public import PKIX

/// The result of an import: all certificates and lists in the input, and whether each was new.
public struct ImportReport: Sendable {
    /// A certificate, and the account or the recipient's address for which it was stored.
    public struct Entry: Sendable {
        /// The account's or recipient's address, or a domain.
        package let address: AddressScope
        /// The certificate that was stored.
        public let certificate: Certificate
        /// Whether the certificate was not stored for this address before.
        public let isNew: Bool
    }

    /// A CA certificate: an intermediate or a trust anchor.
    public struct Authority: Sendable {
        /// The certificate that was stored.
        public let certificate: Certificate
        /// Whether the certificate was no intermediate, or no anchor, before.
        public let isNew: Bool
    }

    /// A certificate revocation list.
    public struct RevocationList: Sendable {
        /// The list that was stored.
        public let list: CertificateList
        /// Whether the list was not stored before.
        public let isNew: Bool
    }

    /// The identities that were stored, one entry for each account.
    public internal(set) var identities: [Entry] = []
    /// The recipients' certificates that were stored, one entry for each address or domain.
    public internal(set) var recipients: [Entry] = []
    /// The CA certificates that are not trusted themselves.
    public internal(set) var intermediates: [Authority] = []
    /// The certificates that are trust anchors.
    public internal(set) var anchors: [Authority] = []
    /// The revocation lists that were stored.
    public internal(set) var crls: [RevocationList] = []
    /// The certificates that were learned from mail, as address and fingerprint.
    var fromMail: Set<String> = []

    /// Whether the input had any data to store, known or new.
    package var isFruitful: Bool {
        !identities.isEmpty || !recipients.isEmpty || !intermediates.isEmpty || !anchors.isEmpty || !crls.isEmpty
    }
}

extension ImportReport {
    /// Adds the certificates that were learned from mail to `recipients`.
    package mutating func add(_ report: LearningReport) {
        let learned = report.entries.map { Entry(address: .init($0.address), certificate: $0.certificate, isNew: true) }
        let known = report.known.map { Entry(address: .init($0.address), certificate: $0.certificate, isNew: false) }
        // A certificate is listed once, even if its owner has signed many messages.
        for entry in learned + known
        where fromMail.insert("\(entry.address.key) \(entry.certificate.fingerprint)").inserted {
            recipients.append(entry)
        }
    }
}
