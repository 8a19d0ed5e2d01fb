import Foundation
import InternetMessage
import PKIX

/// The table of recipients.
enum RecipientRecord {
    /// The certificates known for some addresses.
    struct KnownCertificates: Sendable {
        /// The recipients, newest certificate first.
        var recipients: [KnownRecipient] = []
        /// The addresses with a learned certificate that cannot be read and is ignored.
        var unreadable: Set<AddressScope> = []
    }

    private static func columns(in database: SQLDatabase) -> String {
        """
        SELECT address_key, address, der, source, source_detail, first_seen, last_seen, recipient.trust,
            capabilities, capabilities_time, \(VerdictRecord.columns(in: database))
        FROM recipient JOIN certificate ON certificate.id = recipient.certificate \(VerdictRecord.joins(in: database))
        """
    }

    /// All certificates known for `address` itself, newest certificate first.
    static func all(for address: AddressScope, in database: SQLDatabase) throws -> [KnownRecipient] {
        try known(for: address, in: database).recipients
    }

    private static func known(for address: AddressScope, in database: SQLDatabase) throws -> KnownCertificates {
        let cost = { (known: KnownCertificates) in known.recipients.map(\.certificate).encodedCount }
        return try database.cached(.candidates, [address.key], cost: cost) {
            let rows = try database.rows(
                "\(columns(in: database)) WHERE address_key = ? ORDER BY not_before DESC, not_after DESC, fingerprint",
                [address.key]
            )
            let recipients = try rows.compactMap { try recipient($0, in: database) }
            return KnownCertificates(
                recipients: recipients.decidedByKey,
                unreadable: recipients.count < rows.count ? [address] : []
            )
        }
    }

    /// Calls `body` with each recipient in the order of their addresses, newest certificate first.
    static func forEach(in database: SQLDatabase, _ body: (KnownRecipient) throws -> Void) throws {
        var ofOneAddress: [KnownRecipient] = []
        func give() throws {
            for recipient in ofOneAddress.decidedByKey { try body(recipient) }
            ofOneAddress.removeAll(keepingCapacity: true)
        }
        let all = "\(columns(in: database)) ORDER BY address_key, not_before DESC, not_after DESC, fingerprint"
        try database.forEach(all) { row in
            guard let next = try recipient(row, in: database) else { return }
            if let last = ofOneAddress.last, last.address != next.address { try give() }
            ofOneAddress.append(next)
        }
        try give()
    }

    /// All certificates known for `address`, usable or not: those of the address, then those of its domain.
    ///
    /// - Parameter domains: the certificates of domains that were read before. Newly read ones are added.
    static func candidates(
        for address: AddressScope,
        _ domains: inout [AddressScope: KnownCertificates],
        in database: SQLDatabase
    ) throws -> KnownCertificates {
        var own = try known(for: address, in: database)
        guard let mailbox = address.address else { return own }
        let domain = AddressScope(domainOf: mailbox)
        let shared = try domains[domain] ?? known(for: domain, in: database)
        domains[domain] = shared
        own.recipients = (own.recipients + shared.recipients).decidedByKey
        own.unreadable.formUnion(shared.unreadable)
        return own
    }

    /// Stores a user's decision about `certificates` for `address`.
    ///
    /// A decision about a certificate applies to its key. A pin is stored only with `certificates`; it ends the distrust
    /// or hold of other certificates for the key at this address. Any other decision is stored with all certificates for
    /// the key at this address.
    static func setTrust(
        _ trust: KnownRecipient.Trust,
        of certificates: [Certificate],
        for address: AddressScope,
        in database: SQLDatabase
    ) throws {
        let keys = Set(certificates.map(\.publicKeyDigest))
        let update = """
            UPDATE recipient SET trust = ? WHERE address_key = ?
                AND certificate = (SELECT id FROM certificate WHERE fingerprint = ?)
            """
        for recipient in try all(for: address, in: database)
        where keys.contains(recipient.certificate.publicKeyDigest) {
            var own = trust
            if trust == .pinned, !certificates.contains(recipient.certificate) {
                guard !recipient.isAccepted else { continue }
                own = .chain
            }
            try database.execute(update, [own.rawValue, address.key, recipient.certificate.fingerprint.bytes])
        }
    }

    /// Whether a user distrusted the key of `certificate` for `address`, in any certificate.
    static func isDistrusted(_ certificate: Certificate, for address: AddressScope, in database: SQLDatabase) throws
        -> Bool
    {
        let distrusted = "SELECT EXISTS (SELECT 1 FROM recipient WHERE address_key = ? AND trust = 'distrusted')"
        guard try database.value(distrusted, [address.key], as: Bool.self) == true else { return false }
        let decisions = try KeyDecisions(on: [certificate], in: database)
        return decisions.scopes[certificate.publicKeyDigest]?.distrusted.contains(address.key) ?? false
    }

    /// Nil if the recipient was learned and cannot be read, or is stored under another address than its own. A gateway of a
    /// shared store can write such rows. They must not make other lookups fail, nor assign a certificate to an address that
    /// the certificate does not name.
    private static func recipient(_ row: SQLRow, in database: SQLDatabase) throws -> KnownRecipient? {
        let (source, trust) = (try row.value("source") as String, try row.value("trust") as String)
        let isLearned = Self.isLearned(source: source, trust: trust)
        do {
            let recipient = try read(row, in: database)
            let key: String = try row.value("address_key")
            return isLearned && recipient.address.key != key ? nil : recipient
        } catch {
            guard isLearned else { throw error }
            return nil
        }
    }

    /// Whether a row with these values was learned from mail, and no user has decided about it.
    static func isLearned(source: String, trust: String) -> Bool {
        source == KnownRecipient.Source.harvest.rawValue
            && [KnownRecipient.Trust.chain, .held].map(\.rawValue).contains(trust)
    }

    private static func read(_ row: SQLRow, in database: SQLDatabase) throws -> KnownRecipient {
        guard let source = KnownRecipient.Source(rawValue: try row.value("source")),
            let trust = KnownRecipient.Trust(rawValue: try row.value("trust"))
        else { throw SQLError(.corrupt, "a recipient with an unknown source or trust") }
        let certificate = try row.certificate()
        var recipient = KnownRecipient(
            address: try AddressScope(row.value("address") as String),
            certificate: certificate,
            source: source,
            sourceDetail: try row.optional("source_detail"),
            firstSeen: try row.date("first_seen"),
            lastSeen: try row.date("last_seen"),
            trust: trust,
            capabilities: try row.optional("capabilities"),
            capabilitiesTime: (try row.optional("capabilities_time") as Int?).map {
                Date(timeIntervalSince1970: TimeInterval($0))
            }
        )
        let record = try VerdictRecord(row, isPinned: trust == .pinned)
        // Other hosts may have written these columns, so the certificate itself determines which revocation lists are
        // relevant.
        recipient.record = try database.storesVerdicts ? record : record.describing(certificate)
        return recipient
    }
}
