package import Foundation
package import PKIX

/// Every certificate that is known for an address, and which of them is used.
package struct RecipientRegistry: Sendable {
    private let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// All recipients, by address, newest certificate first.
    package func all() async throws(KeystoreError) -> [KnownRecipient] {
        try await map { $0 }
    }

    /// The results of `transform` for every recipient, by address, newest certificate first. Only the results are kept
    /// in memory.
    package func map<Row: Sendable>(
        _ transform: @escaping @Sendable (KnownRecipient) throws -> Row?
    ) async throws(KeystoreError) -> [Row] {
        try await database.read { database in
            var rows: [Row] = []
            try RecipientRecord.forEach(in: database) { if let row = try transform($0) { rows.append(row) } }
            return rows
        }
    }

    /// Every address and domain that a certificate is known for, in order.
    package func addresses() async throws(KeystoreError) -> [AddressScope] {
        try await database.read { database in
            try database.rows(
                "SELECT address_key, min(address) AS address FROM recipient GROUP BY address_key ORDER BY address_key"
            ).compactMap { try Self.scope(of: $0) }
        }
    }

    /// The certificates known for `address` itself, newest first; usable or not.
    package func certificates(for address: AddressScope) async throws(KeystoreError) -> [KnownRecipient] {
        try await database.read { try RecipientRecord.all(for: address, in: $0) }
    }

    /// How many addresses and domains certificates are known for.
    package func count() async throws(KeystoreError) -> Int {
        try await database.read { try $0.value("SELECT count(DISTINCT address_key) FROM recipient", as: Int.self) ?? 0 }
    }

    /// The addresses of others whose last certificate that mail can be encrypted to ends between the two times, and when; by
    /// address.
    ///
    /// What was distrusted by hand or is held back does not count.
    package func ends(
        after start: Date,
        until end: Date
    ) async throws(KeystoreError) -> [(address: AddressScope, end: Date)] {
        try await database.read { database in
            try database.rows(
                """
                SELECT address_key, min(address) AS address, max(not_after) AS last FROM recipient JOIN certificate ON id = certificate
                WHERE trust NOT IN ('distrusted', 'held') AND (usage & ? <> 0 OR trust = 'pinned')
                GROUP BY address_key HAVING max(not_after) BETWEEN ? AND ?
                    AND max(CASE WHEN source = 'identity' THEN 1 ELSE 0 END) = 0 ORDER BY address_key
                """,
                [CertificateRecord.Usage.encryption.rawValue, start.seconds, end.seconds]
            ).compactMap { row in try Self.scope(of: row).map { ($0, try row.date("last")) } }
        }
    }

    /// The address of a row as a person wrote it, or as it is compared where a gateway of a shared store wrote another one; nil for one
    /// that is none.
    private static func scope(of row: SQLRow) throws -> AddressScope? {
        let key: String = try row.value("address_key")
        if let written = try? AddressScope(row.value("address") as String), written.key == key { return written }
        return try? AddressScope(key)
    }

    /// The certificates that wait for a user's trust, by address.
    package func held() async throws(KeystoreError) -> [(address: AddressScope, certificate: Fingerprint)] {
        try await database.read { database in
            try database.rows(
                """
                SELECT address, fingerprint FROM recipient JOIN certificate ON id = certificate
                WHERE trust = 'held' ORDER BY address_key, fingerprint
                """
            ).compactMap { row in
                let address = try AddressScope(row.value("address") as String)
                return Fingerprint(bytes: try row.value("fingerprint") as [UInt8]).map { (address, $0) }
            }
        }
    }

    /// Remembers the authors of verified messages, in one transaction.
    ///
    /// - Parameters:
    ///   - time: the current time; a later time that a signer claims is ignored.
    ///   - policy: how to treat a certificate by another issuer or for another key than before.
    package func learn(
        _ sightings: [SignerSighting],
        at time: Date,
        onChange policy: ChangePolicy = .sameRoot
    ) async throws(KeystoreError) -> LearningReport {
        try await database.write { database in
            try LearningTransaction(database: database, now: time, policy: policy, writes: true).run(sightings)
        }
    }

    /// What `learn` would do now. Changes nothing.
    package func preview(
        _ sightings: [SignerSighting],
        at time: Date,
        onChange policy: ChangePolicy = .sameRoot
    ) async throws(KeystoreError) -> LearningReport {
        try await database.read { database in
            try LearningTransaction(database: database, now: time, policy: policy, writes: false).run(sightings)
        }
    }

    /// Changes the trust in the certificates of `address`, or in the one with `fingerprint` and the others about its key.
    ///
    /// A decision about one certificate of a key counts for all certificates of the key at this address: distrust is stored with each of
    /// them, and a pin ends the distrust of the others.
    ///
    /// - Returns: the certificates concerned.
    /// - Throws: `.unknownRecipient`, `.unknownCertificate`
    package func setTrust(
        _ trust: KnownRecipient.Trust,
        of address: AddressScope,
        fingerprint: Fingerprint? = nil
    ) async throws(KeystoreError) -> [Certificate] {
        try await database.write { database in
            let certificates = try Self.certificates(of: address, fingerprint, in: database)
            try RecipientRecord.setTrust(trust, of: certificates, for: address, in: database)
            return certificates
        }
    }

    /// Pins every certificate of `address` whose key was not distrusted by hand.
    ///
    /// - Returns: the certificates concerned; none if all of them are distrusted.
    /// - Throws: `.unknownRecipient`
    package func pinUnlessDistrusted(_ address: AddressScope) async throws(KeystoreError) -> [Certificate] {
        try await database.write { database in
            let known = try RecipientRecord.all(for: address, in: database)
            guard !known.isEmpty else { throw KeystoreError.unknownRecipient(address) }
            let certificates = known.filter { $0.trust != .distrusted }.map(\.certificate)
            try RecipientRecord.setTrust(.pinned, of: certificates, for: address, in: database)
            return certificates
        }
    }

    /// Forgets the certificates of `address`, or the one with `fingerprint` only.
    ///
    /// - Returns: the certificates that were forgotten.
    /// - Throws: `.unknownRecipient`, `.unknownCertificate`
    package func remove(
        _ address: AddressScope,
        fingerprint: Fingerprint? = nil
    ) async throws(KeystoreError) -> [Certificate] {
        try await database.write { database in
            let certificates = try Self.certificates(of: address, fingerprint, in: database)
            let rows = try certificates.compactMap { try CertificateRecord.id(of: $0.fingerprint, in: database) }
            for row in rows {
                try database.execute(
                    "DELETE FROM recipient WHERE address_key = ? AND certificate = ?",
                    [address.key, row]
                )
            }
            try CertificateRecord.removeUnused(rows, from: database)
            return certificates
        }
    }

    private static func certificates(
        of address: AddressScope,
        _ fingerprint: Fingerprint?,
        in database: SQLDatabase
    ) throws -> [Certificate] {
        let known = try RecipientRecord.all(for: address, in: database).map(\.certificate)
        guard !known.isEmpty else { throw KeystoreError.unknownRecipient(address) }
        guard let fingerprint else { return known }
        let matching = known.filter { $0.fingerprint == fingerprint }
        guard !matching.isEmpty else { throw KeystoreError.unknownCertificate(fingerprint) }
        return matching
    }
}
