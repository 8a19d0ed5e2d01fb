import Foundation
import GRDB
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
        into database: Database
    ) throws -> Bool {
        try database.cachedStatement(
            "INSERT OR IGNORE INTO crl (fingerprint, issuer_key, der, added, fetched) VALUES (?, ?, ?, ?, ?)"
        )
        .execute(
            arguments: [
                Data(list.fingerprint.bytes), Data(list.issuer.matchingKey), Data(list.der), time, isFetched,
            ]
        )
        return database.changesCount > 0
    }

    /// Forgets the lists that are over, and in whose place are those of `genuine`, known to be signed by their issuers.
    ///
    /// One that is over and has no successor stays: it may be all that says that a certificate was revoked.
    ///
    /// - Parameter time: seconds since 1970.
    static func tidy(after genuine: [CertificateList], at time: Int, in database: Database) throws {
        let end = Date(timeIntervalSince1970: Double(time) - tolerance)
        for list in genuine.prefix(maximumCount) {
            let others = try Data.fetchAll(
                database.cachedStatement(
                    "SELECT der FROM crl WHERE issuer_key = ? ORDER BY added LIMIT \(maximumCount)"
                ),
                arguments: [Data(list.issuer.matchingKey)]
            )
            for der in others {
                // `store check` reports unreadable lists.
                guard let other = try? CertificateList(der: [UInt8](der)), let last = other.nextUpdate, last < end,
                    list.supersedes(other, at: end)
                else { continue }
                try database.cachedStatement("DELETE FROM crl WHERE fingerprint = ?").execute(
                    arguments: [Data(other.fingerprint.bytes)]
                )
            }
        }
    }
}
