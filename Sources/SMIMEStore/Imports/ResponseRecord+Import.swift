import Foundation
import PKIX

extension ResponseRecord {
    /// Stores `items`. A newer answer replaces an older one, and expired answers are deleted.
    ///
    /// - Parameter time: seconds since 1970.
    static func insert(_ items: [ImportBatch.ResponseItem], at time: Int, into database: SQLDatabase) throws {
        guard !items.isEmpty else { return }
        let insert = """
            INSERT INTO ocsp_response (certificate, der, since, until) VALUES (?, ?, ?, ?)
            ON CONFLICT (certificate) DO UPDATE SET der = excluded.der, since = excluded.since, until = excluded.until
            WHERE excluded.since >= ocsp_response.since
            """
        for item in items {
            try database.execute(
                insert,
                [
                    item.certificate.bytes, item.response.der, item.lifetime.since.seconds,
                    item.lifetime.until.seconds,
                ]
            )
        }
        try database.execute("DELETE FROM ocsp_response WHERE until < ?", [time - tolerance], isCounted: false)
    }
}
