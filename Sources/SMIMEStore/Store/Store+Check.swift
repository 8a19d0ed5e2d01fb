import Foundation
import LibCrypto
import PKIX

extension Store {
    /// Looks for damage: in the database's pages, in references, in certificates and lists, in the private keys; and for what nothing
    /// needs.
    ///
    /// Without a passphrase the private keys of a locked store are not opened, and a finding says so.
    ///
    /// - Returns: what was found, the worst first; nothing for a sound store.
    /// - Throws: `.keyMissing`, `.keyMismatch`, `.permissions`, `.wrongPassphrase`; `.corrupt` if the database cannot
    ///   even be searched.
    package func check() async throws(KeystoreError) -> [StoreFinding] {
        guard exists else { return [] }
        let (found, protectors, keys) = try await database.read { database in
            (
                try Self.damage(in: database) + Self.changedCertificates(in: database)
                    + WrongRows(in: database).findings + Self.orphans(in: database),
                try Protectors(in: database), try SealedKeys(where: "TRUE", [], in: database)
            )
        }
        let findings = found + leftovers(protectors) + (try await examine(keys, protectors))
        return findings.filter { $0.level == .error } + findings.filter { $0.level == .warning }
            + findings.filter { $0.level == .note }
    }

    /// Removes the certificates that nothing refers to. Removes no key and no file.
    ///
    /// - Returns: how many there were.
    package func forgetUnusedCertificates() async throws(KeystoreError) -> Int {
        try await database.write { database in
            try database.execute("DELETE FROM certificate WHERE \(CertificateRecord.isUnused)")
        }
    }

    /// Removes learned and fetched rows that cannot be read, and puts columns right that say something else than the certificate does.
    ///
    /// - Returns: how many there were.
    package func repairRows() async throws(KeystoreError) -> Int {
        try await database.write { database in
            let rows = try WrongRows(in: database)
            try rows.repair(in: database)
            return rows.repairable
        }
    }

    /// Every file and directory of the store that others could read or change, or that is not what it should be.
    package static func looseFiles(of location: StoreLocation) -> [StoreFinding] {
        let folder = StoreFolder(location: location)
        return folder.everything.compactMap { path, isFolder in
            do throws(KeystoreError) {
                try folder.inspect(path, isFolder: isFolder)
                return nil
            } catch {
                guard case .permissions(let path, let why) = error else { return nil }
                return StoreFinding(.permissions, .error, text: "\(path): \(why)")
            }
        }
    }

    static func damage(in database: SQLDatabase) throws -> [StoreFinding] {
        try database.damagedPages().map { StoreFinding(.integrity, .error, text: $0) }
            + database.brokenReferences().sorted { $0.key < $1.key }.map {
                StoreFinding(.reference, .error, text: "\($0.key): references to records that are missing: \($0.value)")
            }
    }

    /// Certificates that are believed as they are, and are not what their fingerprints say. Those of other authorities, and
    /// revocation lists, count by their signatures only.
    static func changedCertificates(in database: SQLDatabase) throws -> [StoreFinding] {
        let judged = """
            SELECT fingerprint, der FROM certificate WHERE id IN (SELECT certificate FROM anchor
                UNION SELECT certificate FROM private_key UNION SELECT certificate FROM recipient) ORDER BY id
            """
        var findings: [StoreFinding] = []
        try database.forEach(judged) { row in
            let (stored, der): ([UInt8], [UInt8]) = try (row.value("fingerprint"), row.value("der"))
            guard try DigestAlgorithm.sha256.digest(der) != stored else { return }
            findings.append(
                StoreFinding(
                    .fingerprint,
                    .error,
                    text: "\(name(stored)): the certificate is not the one that was stored"
                )
            )
        }
        return findings.sorted { $0.text < $1.text }
    }

    private static func name(_ bytes: [UInt8]) -> String {
        Fingerprint(bytes: bytes).map { "\($0)" } ?? "a certificate"
    }

    private static func orphans(in database: SQLDatabase) throws -> [StoreFinding] {
        let certificates = try database.values(
            "SELECT fingerprint FROM certificate WHERE \(CertificateRecord.isUnused) ORDER BY fingerprint",
            as: [UInt8].self
        )
        let keys = try database.values(
            """
            SELECT fingerprint FROM certificate JOIN private_key ON certificate = id
            WHERE NOT EXISTS (SELECT 1 FROM identity WHERE identity.certificate = certificate.id) ORDER BY fingerprint
            """,
            as: [UInt8].self
        )
        return certificates.map {
            StoreFinding(
                .orphanCertificate,
                .warning,
                text: "\(name($0)): nothing refers to it",
                isUnusedCertificate: true
            )
        }
            + keys.map {
                StoreFinding(.orphanKey, .warning, text: "\(name($0)): its private key belongs to no account")
            }
    }

    private func leftovers(_ protectors: Protectors) -> [StoreFinding] {
        let temporaries = [location.databaseSuccessor, location.keyFile + ".new", location.keyFileSuccessor]
        let stale = temporaries + (protectors.keyFile == nil ? [location.keyFile] : [])
        return stale.filter { access($0, F_OK) == 0 }.map {
            StoreFinding(.staleFile, .warning, text: "\($0): left behind by a change that was interrupted")
        }
    }

    private func examine(
        _ keys: SealedKeys,
        _ protectors: Protectors
    ) async throws(KeystoreError) -> [StoreFinding] {
        let storeKey: StoreKey
        do throws(KeystoreError) { storeKey = try await unlocker.key(for: protectors) } catch {
            guard case .locked = error else { throw error }
            return [StoreFinding(.locked, .note, text: "locked with a passphrase, so no private key was opened")]
        }
        return keys.damaged(under: storeKey).map {
            StoreFinding(.privateKey, .error, text: "\($0.fingerprint): its private key is damaged")
        }
    }
}
