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

    /// Everything known for `address`, newest certificate first.
    static func all(for address: EmailAddress, in database: Database) throws -> [KnownRecipient] {
        try Row.fetchAll(
            database.cachedStatement(
                "\(columns) WHERE address_key = ? ORDER BY not_before DESC, not_after DESC, fingerprint"
            ),
            arguments: [address.key]
        ).map(recipient)
    }

    /// Everything known, by address, newest certificate first.
    static func all(in database: Database) throws -> [KnownRecipient] {
        try Row.fetchAll(
            database,
            sql: "\(columns) ORDER BY address_key, not_before DESC, not_after DESC, fingerprint"
        ).map(recipient)
    }

    private static func recipient(_ row: Row) throws -> KnownRecipient {
        guard let source = KnownRecipient.Source(rawValue: row["source"]),
            let trust = KnownRecipient.Trust(rawValue: row["trust"])
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a recipient of an unknown kind") }
        return KnownRecipient(
            address: try row.address("address"),
            certificate: try row.certificate(),
            source: source,
            sourceDetail: row["source_detail"],
            firstSeen: row.date("first_seen"),
            lastSeen: row.date("last_seen"),
            trust: trust,
            capabilities: (row["capabilities"] as Data?).map { [UInt8]($0) },
            capabilitiesTime: (row["capabilities_time"] as Int?).map { Date(timeIntervalSince1970: TimeInterval($0)) }
        )
    }
}
