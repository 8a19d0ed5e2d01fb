import Foundation
import GRDB
import PKIX

extension ResponseRecord {
    /// Keeps `items`, a newer one in the place of an older, and forgets those that no longer hold.
    ///
    /// - Parameter time: seconds since 1970.
    static func insert(_ items: [ImportBatch.ResponseItem], at time: Int, into database: Database) throws {
        guard !items.isEmpty else { return }
        let insert = try database.cachedStatement(
            """
            INSERT INTO ocsp_response (certificate, der, since, until) VALUES (?, ?, ?, ?)
            ON CONFLICT (certificate) DO UPDATE SET der = excluded.der, since = excluded.since, until = excluded.until
            WHERE excluded.since >= since
            """
        )
        for item in items {
            try insert.execute(
                arguments: [
                    Data(item.certificate.bytes), Data(item.response.der), item.lifetime.since.seconds,
                    item.lifetime.until.seconds,
                ]
            )
        }
        try database.cachedStatement("DELETE FROM ocsp_response WHERE until < ?").execute(arguments: [time - tolerance])
    }
}
