import Foundation
import PKIX

/// Revocation lists, in the table `crl`.
enum RevocationListRecord {
    /// How long a list still counts as current after its end, in seconds. This allows for differences between clocks.
    private static let tolerance = 300.0
    /// The maximum number of lists of one issuer, and of issuers, that one call of `tidy` examines.
    private static let maximumCount = 32

    /// Stores `list`.
    ///
    /// - Parameter time: seconds since 1970.
    /// - Returns: whether the list was not stored before.
    @discardableResult
    static func insert(
        _ list: CertificateList,
        isFetched: Bool = false,
        at time: Int,
        into database: SQLDatabase
    ) throws -> Bool {
        let (fingerprint, issuer) = (list.fingerprint.bytes, try list.issuer.matchingKey)
        // A row with this fingerprint but other content, written by another host, would hide the list.
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

    /// Deletes expired fetched lists that one of `items` replaces: both are signed with the same key. The caller has verified
    /// that the items are signed by their issuers.
    ///
    /// An expired list without a successor stays: it may be the only evidence that a certificate was revoked. Another
    /// authority with the issuer's name cannot replace it.
    ///
    /// - Parameter time: seconds since 1970.
    static func tidy(after items: [FetchedList], at time: Int, in database: SQLDatabase) throws {
        let end = Date(timeIntervalSince1970: Double(time) - tolerance)
        for item in items.prefix(maximumCount) {
            let list = item.list
            let others = try database.values(
                "SELECT der FROM crl WHERE fetched <> 0 AND issuer_key = ? ORDER BY added LIMIT \(maximumCount)",
                [list.issuer.matchingKey],
                as: [UInt8].self
            )
            for der in others {
                // `store check` reports lists that cannot be read.
                guard let other = try? CertificateList(der: der), let last = other.nextUpdate, last < end,
                    list.supersedes(other, at: end), other.isSigned(by: item.issuer)
                else { continue }
                try database.execute("DELETE FROM crl WHERE fingerprint = ?", [other.fingerprint.bytes])
            }
        }
    }
}
