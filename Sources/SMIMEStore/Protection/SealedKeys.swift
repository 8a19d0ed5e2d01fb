import Foundation
import PKIX

/// Sealed private keys as read from the database. They are opened outside of transactions.
struct SealedKeys: Sendable {
    private struct Item: Sendable {
        let certificate: Certificate
        let sealed: [UInt8]
        /// The certificate to which the sealed key is bound: `certificate`, or another certificate for the same key.
        let bound: Fingerprint

        var name: StoreCache.SealedKey { StoreCache.SealedKey(bound: bound, sealed: sealed) }
    }

    private let rows: [Item]
    let protectors: Protectors

    var certificates: [Certificate] { rows.map(\.certificate) }

    /// The private keys of the certificates that meet the SQL `condition`, newest first.
    init(where condition: String, _ arguments: SQLArguments, in database: SQLDatabase) throws {
        rows = try database.cached(.sealedKeys, [condition] + arguments, cost: Self.cost) {
            try Self.rows(where: condition, arguments, in: database)
        }
        protectors = try Protectors(in: database)
    }

    private static func cost(_ rows: [Item]) -> Int {
        rows.reduce(0) { $0 + $1.certificate.der.count + $1.sealed.count }
    }

    private static func rows(
        where condition: String,
        _ arguments: SQLArguments,
        in database: SQLDatabase
    ) throws -> [Item] {
        try database.rows(
            """
            SELECT der, fingerprint, sealed FROM certificate JOIN private_key ON certificate = id
            WHERE \(condition) ORDER BY not_before DESC, not_after DESC, fingerprint
            """,
            arguments
        ).map { row in
            let certificate = try row.certificate()
            return Item(
                certificate: certificate,
                sealed: try row.value("sealed") as [UInt8],
                bound: certificate.fingerprint
            )
        }
    }

    /// The private keys of `certificates`, in this order.
    init(certificates: [Certificate], in database: SQLDatabase) throws {
        rows = try certificates.flatMap { certificate in
            try SealedKeys(where: "fingerprint = ?", [certificate.fingerprint.bytes], in: database).rows
        }
        protectors = try Protectors(in: database)
    }

    /// The private keys of the certificates that a RecipientInfo names.
    ///
    /// A renewed certificate without a private key of its own is matched with the private key of another certificate for
    /// the same key.
    init(matching identifier: EntityIdentifier, in database: SQLDatabase) throws {
        let (condition, arguments): (String, SQLArguments) =
            switch identifier {
            case .issuerAndSerial(let issuer, let serial): ("issuer = ? AND serial = ?", [issuer, serial])
            case .subjectKeyIdentifier(let identifier): ("key_identifier = ?", [identifier])
            }
        let own = try SealedKeys(where: condition, arguments, in: database)
        rows = own.rows.isEmpty ? try Self.rows(sharingKeyWith: condition, arguments, in: database) : own.rows
        protectors = own.protectors
    }

    private static func rows(
        sharingKeyWith condition: String,
        _ arguments: SQLArguments,
        in database: SQLDatabase
    ) throws -> [Item] {
        try database.cached(.sealedKeysOfKey, [condition] + arguments, cost: cost) {
            try readRows(sharingKeyWith: condition, arguments, in: database)
        }
    }

    private static func readRows(
        sharingKeyWith condition: String,
        _ arguments: SQLArguments,
        in database: SQLDatabase
    ) throws -> [Item] {
        try database.rows(
            """
            SELECT named.der AS der, named.fingerprint AS fingerprint, sealed, own.fingerprint AS bound
            FROM (SELECT der, fingerprint, public_key FROM certificate WHERE \(condition) LIMIT 100) AS named
            JOIN certificate AS own ON own.public_key = named.public_key
            JOIN private_key ON private_key.certificate = own.id ORDER BY own.not_before DESC LIMIT 100
            """,
            arguments
        ).compactMap { row in
            // The named certificate may be another person's, and may be unreadable. Then it is ignored.
            guard let bound = Fingerprint(bytes: try row.value("bound") as [UInt8]),
                let certificate = try? row.certificate()
            else { return nil }
            return Item(
                certificate: certificate,
                sealed: try row.value("sealed") as [UInt8],
                bound: bound
            )
        }
    }

    /// The private key of the first certificate that meets `condition`; nil if there is none.
    func first(where condition: (Certificate) -> Bool) -> SealedKeys? {
        rows.first { condition($0.certificate) }.map { SealedKeys(rows: [$0], protectors: protectors) }
    }

    private init(rows: [Item], protectors: Protectors) {
        self.rows = rows
        self.protectors = protectors
    }

    /// Opens all private keys.
    ///
    /// - Throws: what opening the store key throws; `.corrupt` if a sealed key was modified, `.unsupportedKey` if this
    ///   libcrypto does not support a key's algorithm.
    ///
    /// - Parameter opened: the cache of private keys that were opened before, with its change counter; nil if opened keys
    ///   are not cached.
    func open(
        _ unlocker: StoreUnlocker,
        path: String,
        _ opened: (cache: StoreCache, number: Int64)? = nil
    ) async throws(KeystoreError) -> [Identity] {
        guard !rows.isEmpty else { return [] }
        if let opened {
            let known = rows.compactMap { row in
                opened.cache.key(in: row.name).map { Identity(unchecked: row.certificate, $0) }
            }
            if known.count == rows.count { return known }
        }
        if let strange = certificates.first(where: { !$0.publicKeyAlgorithm.isOffered }) {
            throw .unsupportedKey(strange.fingerprint, "\(strange.publicKeyAlgorithm)")
        }
        let storeKey = try await unlocker.key(for: protectors)
        do {
            return try rows.map { row in
                let key = try storeKey.open(row.sealed, for: row.bound)
                if let opened { opened.cache.keep(key, from: row.name, opened.number) }
                return Identity(unchecked: row.certificate, key)
            }
        } catch {
            throw KeystoreError.corrupt(path: path, detail: "a private key was changed")
        }
    }

    /// The certificates whose private keys cannot be opened with `storeKey`, or do not belong to the certificate.
    func damaged(under storeKey: StoreKey) -> [Certificate] {
        rows.filter { row in
            // A private key whose algorithm this libcrypto does not support cannot be checked.
            guard row.certificate.publicKeyAlgorithm.isOffered else { return false }
            guard let key = try? storeKey.open(row.sealed, for: row.bound) else { return true }
            return !key.belongs(to: row.certificate)
        }.map(\.certificate)
    }
}

/// A certificate with its sealed private key.
package struct SealedIdentity: Sendable {
    let keys: SealedKeys
}
