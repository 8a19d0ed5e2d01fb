import Foundation
package import PKIX

extension Store {
    /// The certificates in the store that `identifiers` name, in the order of `identifiers`, at most 100 for each. They
    /// may belong to accounts, other people or CAs.
    package func certificates(
        matching identifiers: [EntityIdentifier]
    ) async throws(KeystoreError) -> [Certificate] {
        try await database.read { database in
            try identifiers.flatMap { try Self.certificates(named: $0, in: database) }
        }
    }

    /// The certificate with this fingerprint, of an account, another person or a CA.
    ///
    /// - Throws: `.unknownCertificate`
    package func certificate(_ fingerprint: Fingerprint) async throws(KeystoreError) -> Certificate {
        let found = try await database.read { database in
            let statement = "SELECT der, fingerprint FROM certificate WHERE fingerprint = ?"
            return try database.row(statement, [fingerprint.bytes])?.certificate()
        }
        guard let found else { throw .unknownCertificate(fingerprint) }
        return found
    }

    /// The certificates whose fingerprints begin with `prefix`, of accounts, other people or CAs, at most 100.
    package func certificates(named prefix: FingerprintPrefix) async throws(KeystoreError) -> [Certificate] {
        guard let range = prefix.range else { return [] }
        return try await database.read { database in
            let statement = "SELECT der, fingerprint FROM certificate WHERE fingerprint BETWEEN ? AND ? LIMIT 100"
            return try database.rows(statement, [range.lowerBound.bytes, range.upperBound.bytes])
                .compactMap { try? $0.certificate() }
        }
    }

    private static func certificates(named identifier: EntityIdentifier, in database: SQLDatabase) throws
        -> [Certificate]
    {
        let (condition, arguments): (String, SQLArguments) =
            switch identifier {
            case .issuerAndSerial(let issuer, let serial): ("issuer = ? AND serial = ?", [issuer, serial])
            case .subjectKeyIdentifier(let identifier): ("key_identifier = ?", [identifier])
            }
        let statement = "SELECT der, fingerprint FROM certificate WHERE \(condition) LIMIT 100"
        return try database.cached(.certificates, [condition] + arguments, cost: \.encodedCount) {
            // An unreadable certificate cannot be the signer's, so it is ignored.
            try database.rows(statement, arguments).compactMap { try? $0.certificate() }
        }
    }
}

extension Store {
    /// Stores `verdicts`, if there are at least `fewest`. Does nothing if the store cannot be written now or by this user,
    /// or is on a server, where stored verdicts are not used.
    func keep(_ verdicts: [NewVerdict], from fewest: Int) async {
        guard location.server == nil, !verdicts.isEmpty, verdicts.count >= fewest else { return }
        // Cached recipients contain their verdicts.
        await writeCache(isCached: true) { try NewVerdict.keep(verdicts, in: $0) }
    }

    /// Writes data to a cache in the database. Does nothing if the store cannot be written now or by this user.
    ///
    /// A store in a file that was opened for reading is opened again for writing.
    ///
    /// - Parameter isCached: whether the memory cache of this process contains the written data.
    func writeCache(
        isCached: Bool = false,
        _ body: @escaping @Sendable (SQLDatabase) throws -> Void
    ) async {
        guard exists else { return }
        guard database.isReadOnly else {
            try? await database.write(isCache: !isCached, body)
            return
        }
        guard location.server == nil else {
            _ = try? await onBlockingThread { () throws(KeystoreError) in
                do { try self.database.withEngine(isCache: !isCached) { try $0.writeNow(body) } } catch {
                    throw KeystoreError(error, path: self.location.path)
                }
            }
            return
        }
        guard access(location.dataFolder, W_OK) == 0, access(location.database, W_OK) == 0 else { return }
        let path = location.database
        try? await onBlockingThread { () throws(KeystoreError) in
            do {
                let writer = try SQLiteEngine.openWriter(path, timeout: 0)
                try writer.writeNow(body)
                // A read-only connection cannot remove the log.
                writer.truncateLog()
                try writer.close()
            } catch { throw KeystoreError(error, path: path) }
        }
    }
}
