package import InternetMessage
public import PKIX

/// All data that one command adds to the store, in one transaction.
package struct ImportBatch: Sendable {
    /// A private key and its certificate, for one or more accounts. `Store.add` rejects an item whose certificate is for
    /// another key, or that has no accounts.
    package struct IdentityItem: Sendable {
        /// The certificate and its private key. The private key is sealed before it is stored.
        package let identity: Identity
        /// The accounts that get the identity, at least one. Accounts are created if they do not exist.
        package let accounts: [EmailAddress]
        /// Whether a user named the accounts. If false, the certificate names them.
        package let isAssigned: Bool

        package init(_ identity: Identity, accounts: [EmailAddress], isAssigned: Bool) {
            self.identity = identity
            self.accounts = accounts
            self.isAssigned = isAssigned
        }

        /// Rejects an identity that could never be used.
        ///
        /// - Throws: `.unmatchedKey`, `.noAccount`
        func check() throws(KeystoreError) {
            let certificate = identity.certificate
            guard identity.key.belongs(to: certificate) else { throw .unmatchedKey(certificate.fingerprint) }
            guard !accounts.isEmpty else { throw .noAccount(certificate.fingerprint) }
        }
    }

    /// Another person's certificate, for the given addresses or domains. `Store.add` rejects an item without any.
    package struct RecipientItem: Sendable {
        /// The certificate to which mail to `addresses` may be encrypted.
        package let certificate: Certificate
        /// The addresses and domains for which the certificate is stored. The certificate need not name them.
        package let addresses: [AddressScope]
        /// The source of the certificate. For a domain, `KnownRecipient.Source.domain` is stored instead.
        package let source: KnownRecipient.Source
        /// Whether the certificate becomes pinned, so that it is trusted without a chain.
        package let isPinned: Bool

        package init(
            certificate: Certificate,
            addresses: [AddressScope],
            source: KnownRecipient.Source = .imported,
            isPinned: Bool = false
        ) {
            self.certificate = certificate
            self.addresses = addresses
            self.source = source
            self.isPinned = isPinned
        }

        /// Rejects a certificate that could never be used.
        ///
        /// - Throws: `.noAddress`
        func check() throws(KeystoreError) {
            guard !addresses.isEmpty else { throw .noAddress(certificate.fingerprint) }
        }
    }

    /// Certificates with their private keys, for accounts.
    package var identities: [IdentityItem] = []
    /// Other people's certificates.
    package var recipients: [RecipientItem] = []
    /// CA certificates that help to build chains. They are not trusted themselves.
    package var intermediates: [Certificate] = []
    /// Certificates that become trust anchors.
    package var anchors: [Certificate] = []
    /// Revocation lists whose signatures were not verified. They do not replace other lists.
    package var crls: [CertificateList] = []
    /// Revocation lists from the issuers' services, with verified signatures. Lists that they replace are deleted.
    package var fetchedLists: [FetchedList] = []
    /// OCSP responses with verified signatures.
    package var responses: [FetchedResponse] = []
    /// Services, as host and port, that did not answer in time. This is recorded for some minutes.
    package var silentServices: [String] = []
    /// Services that answered. Records of earlier failures are deleted.
    package var answeringServices: [String] = []

    package init() {}

    /// Whether the batch has no data to store.
    package var isEmpty: Bool {
        identities.isEmpty && recipients.isEmpty && intermediates.isEmpty && anchors.isEmpty && crls.isEmpty
            && fetchedLists.isEmpty && responses.isEmpty && silentServices.isEmpty && answeringServices.isEmpty
    }
}

/// The result of an import: all certificates and lists in the input, and whether each was new.
public struct ImportReport: Sendable {
    /// A certificate, and the account or the recipient's address for which it was stored.
    public struct Entry: Sendable {
        /// The account's or recipient's address, or a domain.
        package let address: AddressScope
        /// The certificate that was stored.
        public let certificate: Certificate
        /// Whether the import changed something for this address: the certificate was not stored for it before, or is now
        /// assigned or pinned.
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
    package var hasContent: Bool {
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
