import Foundation
import PKIX

/// Private keys as the database holds them, to be opened outside of it.
struct SealedKeys: Sendable {
    private struct Item: Sendable {
        let certificate: Certificate
        let sealed: [UInt8]
        /// The certificate that the sealed key is bound to: `certificate`, or another one about the same key.
        let bound: Fingerprint

        var name: StoreCache.SealedKey { StoreCache.SealedKey(bound: bound, sealed: sealed) }
    }

    private let rows: [Item]
    let protectors: Protectors

    var certificates: [Certificate] { rows.map(\.certificate) }

    /// The keys of the certificates that meet `condition`, newest first.
    init(where condition: String, _ arguments: SQLArguments, in database: SQLDatabase) throws {
        rows = try database.remembered(.sealedKeys, [condition] + arguments, cost: Self.cost) {
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
            SELECT der, sealed FROM certificate JOIN private_key ON certificate = id
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

    /// The keys of `certificates`, in this order.
    init(certificates: [Certificate], in database: SQLDatabase) throws {
        rows = try certificates.flatMap { certificate in
            try SealedKeys(where: "fingerprint = ?", [certificate.fingerprint.bytes], in: database).rows
        }
        protectors = try Protectors(in: database)
    }

    /// The keys of the certificates that a RecipientInfo names.
    ///
    /// A certificate that was issued anew for a key of ours is opened by that key, although it came without it.
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
        try database.remembered(.sealedKeysOfKey, [condition] + arguments, cost: cost) {
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
            SELECT named.der AS der, sealed, own.fingerprint AS bound
            FROM (SELECT der, public_key FROM certificate WHERE \(condition) LIMIT 100) AS named
            JOIN certificate AS own ON own.public_key = named.public_key
            JOIN private_key ON private_key.certificate = own.id ORDER BY own.not_before DESC LIMIT 100
            """,
            arguments
        ).compactMap { row in
            // Of a certificate that was merely met, and may be of any kind, the key is not ours.
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

    /// The first of the keys whose certificate is as `condition` says; nil if none is.
    func first(where condition: (Certificate) -> Bool) -> SealedKeys? {
        rows.first { condition($0.certificate) }.map { SealedKeys(rows: [$0], protectors: protectors) }
    }

    private init(rows: [Item], protectors: Protectors) {
        self.rows = rows
        self.protectors = protectors
    }

    /// Opens every key.
    ///
    /// - Throws: what opening the store key throws; `.corrupt` for a key that was changed on disk, `.unsupportedKey` for one
    ///   that this libcrypto does not know.
    ///
    /// - Parameter opened: keys that were opened before, and the change counter they belong to; nil if none are kept.
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

    /// The certificates whose keys do not open under `storeKey`, or are not theirs.
    func damaged(under storeKey: StoreKey) -> [Certificate] {
        rows.filter { row in
            // A key of an algorithm that this libcrypto lacks cannot be checked.
            guard row.certificate.publicKeyAlgorithm.isOffered else { return false }
            guard let key = try? storeKey.open(row.sealed, for: row.bound) else { return true }
            return !key.belongs(to: row.certificate)
        }.map(\.certificate)
    }
}

/// A certificate of ours with its private key, which is not open yet.
package struct SealedIdentity: Sendable {
    let keys: SealedKeys
}
