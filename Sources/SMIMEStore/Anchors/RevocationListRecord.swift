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

    /// Deletes expired lists that a list in `genuine` replaces. The caller has verified that the lists in `genuine` are
    /// signed by their issuers.
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
                // `store check` reports lists that cannot be read.
                guard let other = try? CertificateList(der: der), let last = other.nextUpdate, last < end,
                    list.supersedes(other, at: end)
                else { continue }
                try database.execute("DELETE FROM crl WHERE fingerprint = ?", [other.fingerprint.bytes])
            }
        }
    }
}
