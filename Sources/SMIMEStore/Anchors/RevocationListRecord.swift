import Foundation
import PKIX

/// Revocation lists, in the table `crl`.
enum RevocationListRecord {
    /// How long after its `nextUpdate` a list is treated as current, in seconds. This allows for differences between clocks.
    private static let tolerance = 300.0
    /// The maximum number of stored fetched lists by one key, and of their bytes together. More are not stored, so they are
    /// fetched again when they are needed.
    private static let maximumFetched = (lists: 256, bytes: CertificateList.maximumCount)

    /// Stores `list`, which a user imports. If the list was fetched before, it is no longer removed automatically.
    ///
    /// - Parameter time: seconds since 1970.
    /// - Returns: whether the list was not stored before.
    @discardableResult
    static func insert(_ list: CertificateList, at time: Int, into database: SQLDatabase) throws -> Bool {
        let isNew = try insert(list, signedWith: nil, at: time, into: database)
        guard !isNew else { return true }
        try database.execute(
            "UPDATE crl SET fetched = 0, signer_key = NULL WHERE fingerprint = ? AND fetched <> 0",
            [list.fingerprint.bytes]
        )
        return false
    }

    /// Stores a fetched list, and deletes expired fetched lists that it replaces: both are signed with the same key. Does
    /// nothing if there are too many fetched lists.
    ///
    /// An expired list without a successor stays: it may be the only evidence that a certificate was revoked. Another
    /// authority with the issuer's name cannot replace it.
    ///
    /// - Parameter time: seconds since 1970.
    static func insert(_ item: FetchedList, at time: Int, into database: SQLDatabase) throws {
        let (list, key) = (item.list, item.issuer.publicKeyDigest)
        let end = Date(timeIntervalSince1970: Double(time) - tolerance)
        let others = try database.values(
            "SELECT der FROM crl WHERE fetched <> 0 AND issuer_key = ? AND signer_key = ? AND fingerprint <> ?",
            [list.issuer.matchingKey, key.bytes, list.fingerprint.bytes],
            as: [UInt8].self
        )
        // `store check` reports lists that cannot be read.
        let replaced = others.compactMap { try? CertificateList(der: $0) }
            .filter { ($0.nextUpdate ?? .distantFuture) < end && list.supersedes($0, at: end) }
        let bytes = others.reduce(list.der.count) { $0 + $1.count } - replaced.reduce(0) { $0 + $1.der.count }
        guard others.count - replaced.count < maximumFetched.lists, bytes <= maximumFetched.bytes else { return }
        try insert(list, signedWith: key, at: time, into: database)
        for other in replaced {
            try database.execute("DELETE FROM crl WHERE fingerprint = ?", [other.fingerprint.bytes])
        }
    }

    /// - Parameter key: the key that signed a fetched list; nil for an imported list.
    @discardableResult
    private static func insert(
        _ list: CertificateList,
        signedWith key: PublicKeyDigest?,
        at time: Int,
        into database: SQLDatabase
    ) throws -> Bool {
        let (fingerprint, issuer) = (list.fingerprint.bytes, try list.issuer.matchingKey)
        // A row with this fingerprint but other content, written by another host, would hide the list.
        try database.execute(
            "DELETE FROM crl WHERE fingerprint = ? AND (issuer_key <> ? OR der <> ?)",
            [fingerprint, issuer, list.der]
        )
        if let key {
            try database.execute(
                "DELETE FROM crl WHERE fingerprint = ? AND fetched <> 0 AND (signer_key IS NULL OR signer_key <> ?)",
                [fingerprint, key.bytes]
            )
        }
        let count = try database.execute(
            """
            INSERT INTO crl (fingerprint, issuer_key, signer_key, der, added, fetched) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING
            """,
            [fingerprint, issuer, key?.bytes, list.der, time, key != nil]
        )
        return count > 0
    }
}
