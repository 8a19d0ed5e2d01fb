package import Foundation
package import PKIX

/// All certificates that are known for addresses and domains.
package struct RecipientRegistry: Sendable {
    private let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// All recipients, in the order of their addresses, newest certificate first.
    package func all() async throws(KeystoreError) -> [KnownRecipient] {
        try await map { $0 }
    }

    /// The results of `transform` for all recipients, in the order of their addresses, newest certificate first. A
    /// recipient for which `transform` returns nil is left out. Only the results are held in memory.
    package func map<Row: Sendable>(
        _ transform: @escaping @Sendable (KnownRecipient) throws -> Row?
    ) async throws(KeystoreError) -> [Row] {
        try await database.read { database in
            var rows: [Row] = []
            try RecipientRecord.forEach(in: database) { if let row = try transform($0) { rows.append(row) } }
            return rows
        }
    }

    /// All addresses and domains for which a certificate is known, in order.
    package func addresses() async throws(KeystoreError) -> [AddressScope] {
        try await database.read { database in
            try database.rows(
                "SELECT address_key, min(address) AS address FROM recipient GROUP BY address_key ORDER BY address_key"
            ).compactMap { try Self.scope(of: $0) }
        }
    }

    /// The certificates known for `address` itself, newest first. Not all of them are usable.
    package func certificates(for address: AddressScope) async throws(KeystoreError) -> [KnownRecipient] {
        try await database.read { try RecipientRecord.all(for: address, in: $0) }
    }

    /// The number of addresses and domains for which certificates are known.
    package func count() async throws(KeystoreError) -> Int {
        try await database.read { try $0.value("SELECT count(DISTINCT address_key) FROM recipient", as: Int.self) ?? 0 }
    }

    /// The other people's addresses whose last certificate for encryption expires between `start` and `end`, with the time
    /// of expiry, in the order of the addresses.
    ///
    /// Certificates that are distrusted or held are not considered.
    package func addressesExpiring(
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

    /// The address of a row as a user wrote it, or its key if a gateway of a shared store wrote an address that does not
    /// match the key; nil if neither is an address.
    private static func scope(of row: SQLRow) throws -> AddressScope? {
        let key: String = try row.value("address_key")
        if let written = try? AddressScope(row.value("address") as String), written.key == key { return written }
        return try? AddressScope(key)
    }

    /// The certificates that are not used until a user trusts them, in the order of their addresses. Leaves out rows of a
    /// gateway with another address than their key: they are ignored even if a user trusts the address.
    package func held() async throws(KeystoreError) -> [(address: AddressScope, certificate: Fingerprint)] {
        try await database.read { database in
            try database.rows(
                """
                SELECT address_key, address, fingerprint FROM recipient JOIN certificate ON id = certificate
                WHERE trust = 'held' ORDER BY address_key, fingerprint
                """
            ).compactMap { row -> (address: AddressScope, certificate: Fingerprint)? in
                let key: String = try row.value("address_key")
                guard let address = try? AddressScope(row.value("address") as String), address.key == key else {
                    return nil
                }
                return Fingerprint(bytes: try row.value("fingerprint") as [UInt8]).map { (address, $0) }
            }
        }
    }

    /// Stores the certificates and capabilities of the authors of verified messages, in one transaction.
    ///
    /// - Parameters:
    ///   - time: the current time. It replaces a later signing time. Capabilities with a signing time that is more than 15
    ///     minutes later are ignored.
    ///   - policy: how to treat a certificate with another issuer or key than the known ones.
    package func learn(
        _ sightings: [SignerSighting],
        at time: Date,
        onChange policy: ChangePolicy = .sameRoot
    ) async throws(KeystoreError) -> LearningReport {
        try await database.write { database in
            try LearningTransaction(database: database, now: time, policy: policy, writes: true).run(sightings)
        }
    }

    /// The report that `learn` would return now. Changes nothing.
    package func preview(
        _ sightings: [SignerSighting],
        at time: Date,
        onChange policy: ChangePolicy = .sameRoot
    ) async throws(KeystoreError) -> LearningReport {
        try await database.read { database in
            try LearningTransaction(database: database, now: time, policy: policy, writes: false).run(sightings)
        }
    }

    /// Changes the trust in the certificates of `address`, or in the certificate with `fingerprint` and other certificates
    /// for its key.
    ///
    /// A decision about a certificate applies to all certificates for its key at this address: distrust is stored with each
    /// of them, and a pin ends the distrust or hold of the others.
    ///
    /// - Returns: the certificates that the arguments select. Others for their keys are not included.
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

    /// Removes the certificates of `address`, or only the one with `fingerprint`.
    ///
    /// - Returns: the removed certificates.
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
