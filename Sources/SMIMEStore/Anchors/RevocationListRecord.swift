import Foundation
import PKIX

/// Revocation lists, in the table `crl`.
enum RevocationListRecord {
    /// How long a list is kept after its end, in seconds: as far as clocks may be apart.
    private static let tolerance = 300.0
    /// The most lists of one issuer that are looked at for tidying at one time, and the most issuers.
    private static let maximumCount = 32

    /// Keeps `list`.
    ///
    /// - Parameter time: seconds since 1970.
    /// - Returns: whether it is new.
    @discardableResult
    static func insert(
        _ list: CertificateList,
        isFetched: Bool = false,
        at time: Int,
        into database: SQLDatabase
    ) throws -> Bool {
        let (fingerprint, issuer) = (list.fingerprint.bytes, try list.issuer.matchingKey)
        // A row of this name that others wrote, and that says something else, would hide the list.
        try database.execute(
            "DELETE FROM crl WHERE fingerprint = ? AND (issuer_key <> ? OR der <> ?)",
            [fingerprint, issuer, list.der]
        )
        let count = try database.execute(
            """
            INSERT INTO crl (fingerprint, issuer_key, der, added, fetched) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [fingerprint, issuer, list.der, time, isFetched]
        )
        return count > 0
    }

    /// Deletes expired lists that a list in `genuine` replaces; those are known to be signed by their issuers.
    ///
    /// An expired list without a successor stays: it may be the only evidence that a certificate was revoked.
    ///
    /// - Parameter time: seconds since 1970.
    static func tidy(after genuine: [CertificateList], at time: Int, in database: SQLDatabase) throws {
        let end = Date(timeIntervalSince1970: Double(time) - tolerance)
        for list in genuine.prefix(maximumCount) {
            let others = try database.values(
                "SELECT der FROM crl WHERE issuer_key = ? ORDER BY added LIMIT \(maximumCount)",
                [list.issuer.matchingKey],
                as: [UInt8].self
            )
            for der in others {
                // What cannot be read is for `store check` to find.
                guard let other = try? CertificateList(der: der), let last = other.nextUpdate, last < end,
                    list.supersedes(other, at: end)
                else { continue }
                try database.execute("DELETE FROM crl WHERE fingerprint = ?", [other.fingerprint.bytes])
            }
        }
    }
}
