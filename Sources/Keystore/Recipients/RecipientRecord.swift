import CMS
import Foundation
import GRDB
import MIME

/// Recipients as rows.
enum RecipientRecord {
    private static let columns = """
        SELECT address, der, source, source_detail, first_seen, last_seen, trust, capabilities, capabilities_time
        FROM recipient JOIN certificate ON certificate.id = certificate
        """

    /// Everything known for `address` itself, newest certificate first.
    static func all(for address: AddressScope, in database: Database) throws -> [KnownRecipient] {
        try Row.fetchAll(
            database.cachedStatement(
                "\(columns) WHERE address_key = ? ORDER BY not_before DESC, not_after DESC, fingerprint"
            ),
            arguments: [address.key]
        ).map(recipient)
    }

    /// Gives everything known to `body`, by address, newest certificate first, one after the other.
    static func forEach(in database: Database, _ body: (KnownRecipient) throws -> Void) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: "\(columns) ORDER BY address_key, not_before DESC, not_after DESC, fingerprint"
        )
        while let row = try rows.next() { try body(recipient(row)) }
    }

    /// Everything that mail to `address` could be encrypted to: its own, then that of its domain.
    static func candidates(for address: AddressScope, in database: Database) throws -> [KnownRecipient] {
        guard let own = address.address else { return try all(for: address, in: database) }
        return try all(for: address, in: database) + all(for: AddressScope(domainOf: own), in: database)
    }

    private static func recipient(_ row: Row) throws -> KnownRecipient {
        guard let source = KnownRecipient.Source(rawValue: try row.value("source")),
            let trust = KnownRecipient.Trust(rawValue: try row.value("trust"))
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a recipient of an unknown kind") }
        return KnownRecipient(
            address: try AddressScope(row.value("address") as String),
            certificate: try row.certificate(),
            source: source,
            sourceDetail: try row.optional("source_detail"),
            firstSeen: try row.date("first_seen"),
            lastSeen: try row.date("last_seen"),
            trust: trust,
            capabilities: (try row.optional("capabilities") as Data?).map { [UInt8]($0) },
            capabilitiesTime: (try row.optional("capabilities_time") as Int?).map {
                Date(timeIntervalSince1970: TimeInterval($0))
            }
        )
    }
}
