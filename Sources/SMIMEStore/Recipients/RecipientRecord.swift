import Foundation
import InternetMessage
import PKIX

/// Recipients as rows.
enum RecipientRecord {
    private static func columns(in database: SQLDatabase) -> String {
        """
        SELECT address, der, source, source_detail, first_seen, last_seen, recipient.trust, capabilities, capabilities_time,
            \(VerdictRecord.columns(in: database))
        FROM recipient JOIN certificate ON certificate.id = recipient.certificate \(VerdictRecord.joins(in: database))
        """
    }

    /// Everything known for `address` itself, newest certificate first.
    static func all(for address: AddressScope, in database: SQLDatabase) throws -> [KnownRecipient] {
        try database.remembered(.candidates, [address.key], cost: { $0.map(\.certificate).encodedCount }) {
            try database.rows(
                "\(columns(in: database)) WHERE address_key = ? ORDER BY not_before DESC, not_after DESC, fingerprint",
                [address.key]
            ).map(recipient).decidedByKey
        }
    }

    /// Gives everything known to `body`, by address, newest certificate first, one after the other.
    static func forEach(in database: SQLDatabase, _ body: (KnownRecipient) throws -> Void) throws {
        var ofOneAddress: [KnownRecipient] = []
        func give() throws {
            for recipient in ofOneAddress.decidedByKey { try body(recipient) }
            ofOneAddress.removeAll(keepingCapacity: true)
        }
        let all = "\(columns(in: database)) ORDER BY address_key, not_before DESC, not_after DESC, fingerprint"
        try database.forEach(all) { row in
            let next = try recipient(row)
            if let last = ofOneAddress.last, last.address != next.address { try give() }
            ofOneAddress.append(next)
        }
        try give()
    }

    /// Everything that mail to `address` could be encrypted to: its own, then that of its domain.
    ///
    /// - Parameter domains: what was read of domains before; what is read now is added.
    static func candidates(
        for address: AddressScope,
        _ domains: inout [AddressScope: [KnownRecipient]],
        in database: SQLDatabase
    ) throws -> [KnownRecipient] {
        guard let own = address.address else { return try all(for: address, in: database) }
        let domain = AddressScope(domainOf: own)
        let shared = try domains[domain] ?? all(for: domain, in: database)
        domains[domain] = shared
        return (try all(for: address, in: database) + shared).decidedByKey
    }

    /// Stores the trust in `certificates` for `address`.
    ///
    /// A decision about one certificate counts for its key: a pin ends the distrust of the key's other certificates that are known for the
    /// address, and any other decision is stored with each of them.
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
                guard !recipient.isBelieved else { continue }
                own = .chain
            }
            try database.execute(update, [own.rawValue, address.key, recipient.certificate.fingerprint.bytes])
        }
    }

    /// Whether the key of `certificate` was distrusted for `address`, with whatever certificate.
    static func isDistrusted(_ certificate: Certificate, for address: AddressScope, in database: SQLDatabase) throws
        -> Bool
    {
        let distrusted = "SELECT EXISTS (SELECT 1 FROM recipient WHERE address_key = ? AND trust = 'distrusted')"
        guard try database.value(distrusted, [address.key], as: Bool.self) == true else { return false }
        let decisions = try KeyDecisions(on: [certificate], in: database)
        return decisions.scopes[certificate.publicKeyDigest]?.distrusted.contains(address.key) ?? false
    }

    private static func recipient(_ row: SQLRow) throws -> KnownRecipient {
        guard let source = KnownRecipient.Source(rawValue: try row.value("source")),
            let trust = KnownRecipient.Trust(rawValue: try row.value("trust"))
        else { throw SQLError(.corrupt, "a recipient of an unknown kind") }
        var recipient = KnownRecipient(
            address: try AddressScope(row.value("address") as String),
            certificate: try row.certificate(),
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
        recipient.record = try VerdictRecord(row, isPinned: trust == .pinned)
        return recipient
    }
}
