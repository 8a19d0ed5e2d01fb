import Foundation
import LibCrypto
import PKIX

extension Store {
    /// Searches for damage in the database's tables, pages, references, certificates, revocation lists and private keys, and
    /// for unneeded data.
    ///
    /// If the store is locked and there is no passphrase, the private keys are not opened, and a finding says so.
    ///
    /// - Returns: the findings, the worst first. No finding has the level `.error` if the store is sound.
    /// - Throws: `.keyMissing`, `.keyMismatch`, `.permissions`, `.cannotOpen`, `.wrongPassphrase`; `.busy` if other
    ///   processes keep replacing the store key; `.corrupt` if the database is too damaged to be searched.
    package func check() async throws(KeystoreError) -> [StoreFinding] {
        guard exists else { return [] }
        var seen: Protectors?
        for _ in 0..<Protectors.changesSeen {
            let (found, sealed) = try await database.read { database -> ([StoreFinding], SealedKeys?) in
                let changed = try Self.changedSchema(in: database)
                // With other tables the queries could fail, and with views they could find anything.
                guard changed.isEmpty else { return (changed, nil) }
                return (
                    try Self.damage(in: database) + Self.changedCertificates(in: database)
                        + WrongRows(in: database).findings + Self.orphans(in: database),
                    try SealedKeys(where: "TRUE", [], in: database)
                )
            }
            guard let keys = sealed else { return found }
            let protectors = keys.protectors
            do throws(KeystoreError) {
                let findings = found + leftovers(protectors) + (try await examine(keys, protectors))
                return findings.filter { $0.level == .error } + findings.filter { $0.level == .warning }
                    + findings.filter { $0.level == .note }
            } catch {
                // Another process may have replaced the store key after the database was read.
                guard case .keyMismatch = error, protectors != seen else { throw error }
                seen = protectors
            }
        }
        throw KeystoreError.busy(path: location.path)
    }

    /// Removes the certificates to which nothing refers. Removes no private keys and no files.
    ///
    /// - Returns: the number of removed certificates.
    package func forgetUnusedCertificates() async throws(KeystoreError) -> Int {
        try await database.write { database in
            try database.execute("DELETE FROM certificate WHERE \(CertificateRecord.isUnused)")
        }
    }

    /// Removes learned and fetched rows that cannot be read, and corrects columns that do not match their certificate.
    ///
    /// - Returns: the number of removed or corrected rows.
    package func repairRows() async throws(KeystoreError) -> Int {
        try await database.write { database in
            let rows = try WrongRows(in: database)
            try rows.repair(in: database)
            return rows.repairable
        }
    }

    /// The files and directories of the store that other users can read or change, or that are of the wrong kind.
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

    /// Findings about the tables, indexes, views and triggers of a file: those that smime did not create, and those of
    /// smime that are missing or different.
    static func changedSchema(in database: SQLDatabase) throws -> [StoreFinding] {
        try Schema.differences(in: database).map { StoreFinding(.integrity, .error, text: $0) }
    }

    static func damage(in database: SQLDatabase) throws -> [StoreFinding] {
        try database.damagedPages().map { StoreFinding(.integrity, .error, text: $0) }
            + database.brokenReferences().sorted { $0.key < $1.key }.map {
                StoreFinding(.reference, .error, text: "\($0.key): references to records that are missing: \($0.value)")
            }
            + [PolicyStore.damage(in: database)].compactMap(\.self).map {
                StoreFinding(.integrity, .error, text: $0.message)
            }
    }

    /// Certificates whose fingerprints do not match their content. They cannot be used. Learned ones can be learned again.
    static func changedCertificates(in database: SQLDatabase) throws -> [StoreFinding] {
        let judged = """
            SELECT fingerprint, der, \(WrongRows.isGiven) AS is_given FROM certificate
            WHERE id IN (SELECT certificate FROM anchor
                UNION SELECT certificate FROM private_key UNION SELECT certificate FROM recipient
                UNION SELECT certificate FROM intermediate) ORDER BY id
            """
        var findings: [StoreFinding] = []
        try database.forEach(judged) { row in
            let (stored, der): ([UInt8], [UInt8]) = try (row.value("fingerprint"), row.value("der"))
            guard try DigestAlgorithm.sha256.digest(der) != stored else { return }
            findings.append(
                StoreFinding(
                    .fingerprint,
                    try row.value("is_given") ? .error : .warning,
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
        // A key program or a credential belongs to the administrator.
        let hasUnusedFile = protectors.keyFile == nil && location.keySource.isOurs
        let stale = temporaries + (hasUnusedFile ? [location.keyFile] : [])
        return stale.filter { access($0, F_OK) == 0 }.map {
            StoreFinding(.staleFile, .warning, text: "\($0): \(state(ofLeftover: $0, protectors))")
        }
    }

    /// What is known of a file that an interrupted change left behind, and whether the store needs it.
    private func state(ofLeftover path: String, _ protectors: Protectors) -> String {
        guard path == location.keyFileSuccessor else { return "a file that an interrupted change did not remove" }
        if let sealed = protectors.keyFile, let successor = try? KeyFile(location).successor(),
            StoreKey.opens(sealed, under: successor)
        {
            return "the store needs this key, do not remove it: the next change of the store makes it the key file"
        }
        return "a key of an interrupted change, which the next change of the store removes if no database needs it"
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
