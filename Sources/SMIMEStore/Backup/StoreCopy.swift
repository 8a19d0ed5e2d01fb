import PKIX

/// A file that `Store.backup` created, checked before it may replace a store.
struct StoreCopy {
    let path: String
    private let reader: SQLiteEngine
    private let protectors: Protectors

    /// - Throws: `.malformedBackup` if the file is damaged or no store; `.newer`; `.older`.
    init(_ path: String) throws(KeystoreError) {
        self.path = path
        // Opening must not create files beside the copy. But if the copy includes the log of a store in use, SQLite needs
        // a file of its own there.
        reader = try Self.attempt(path) {
            try SQLiteEngine.openReader(path, isFrozen: !SQLiteEngine.hasLog(path))
        }
        let reader = reader
        protectors = try Self.attempt(path) {
            try StoreDatabase.schemaVersion(of: reader, path)
            return try reader.readNow { database in
                // With other tables or with views, the next queries could find anything.
                try Self.reject(path, for: Store.changedSchema(in: database))
                try Self.reject(path, for: Store.damage(in: database) + Store.changedCertificates(in: database))
                return try Protectors(in: database)
            }
        }
        guard protectors.protection != nil else {
            throw KeystoreError.malformedBackup(
                path: path,
                detail: "neither a key file nor a passphrase opens its private keys"
            )
        }
    }

    /// False if a key file protects the copy and this host does not have it, even if the copy also has a passphrase.
    ///
    /// - Throws: `.foreignCopy` if the key file belongs to another store, and the copy has no passphrase either;
    ///   `.malformedBackup` if the key file opens the copy, but not all of its private keys.
    func hasKeyFile(at location: StoreLocation) throws(KeystoreError) -> Bool {
        guard let sealed = protectors.keyFile else { return true }
        do throws(KeystoreError) {
            try checkKeys(under: StoreKey(sealed: sealed, location: location))
            return true
        } catch {
            switch error {
            case .keyMissing: return false
            case .keyMismatch:
                if protectors.passphrase != nil { return false }
                throw KeystoreError.foreignCopy(path: path, keyFile: location.keyFile)
            default: throw error
            }
        }
    }

    /// - Throws: `.malformedBackup` if `storeKey` does not open a private key, or the key is not that of its certificate.
    private func checkKeys(under storeKey: StoreKey) throws(KeystoreError) {
        let damaged = try Self.attempt(path) {
            try reader.readNow { try SealedKeys(where: "TRUE", [], in: $0) }.damaged(under: storeKey)
        }
        guard let certificate = damaged.first else { return }
        throw .malformedBackup(path: path, detail: "\(certificate.fingerprint): its private key is damaged")
    }

    /// - Throws: `.malformedBackup` if a row is damaged.
    func checkRows() throws(KeystoreError) {
        try Self.attempt(path) {
            try reader.readNow { try Self.reject(path, for: WrongRows(in: $0).findings) }
        }
    }

    /// Writes the copy's content to a new file, with the newest schema version and without cached verdicts and answers.
    func write(to target: String) throws(KeystoreError) {
        do {
            try reader.writeCopy(to: target)
            try StoreDatabase.complete(target) { database in
                // The file at `path` may have changed since it was checked.
                try Self.reject(path, for: Store.changedSchema(in: database))
                try Self.reject(path, for: WrongRows(in: database).findings)
                _ = try ChangeCounter.value(in: database)
                // Stored verdicts and answers appear in no list, and outlast the data from which they were computed. They
                // are computed again.
                for cache in ["verdict", "lookup_answer"] {
                    try database.execute("DELETE FROM \(cache)", isCounted: false)
                }
            }
            try StoreFolder.synchronize(target)
        } catch {
            StoreDatabase.remove(target)
            throw Self.isDamage(error) ? Self.malformed(error, path) : KeystoreError(error, path: target)
        }
    }

    /// - Throws: `.malformedBackup` if a finding is an error.
    private static func reject(_ path: String, for findings: [StoreFinding]) throws(KeystoreError) {
        guard let finding = findings.first(where: { $0.level == .error }) else { return }
        throw .malformedBackup(path: path, detail: finding.text)
    }

    private static func attempt<Value>(_ path: String, _ body: () throws -> Value) throws(KeystoreError) -> Value {
        do { return try body() } catch {
            throw isDamage(error) ? malformed(error, path) : KeystoreError(error, path: path)
        }
    }

    private static func isDamage(_ error: any Error) -> Bool {
        guard case .corrupt = KeystoreError(error, path: "") else { return false }
        return true
    }

    private static func malformed(_ error: any Error, _ path: String) -> KeystoreError {
        guard case .corrupt(_, let detail) = KeystoreError(error, path: path) else {
            return KeystoreError(error, path: path)
        }
        return .malformedBackup(path: path, detail: detail)
    }
}

extension Store {
    /// Why a restore would reject the copy at `path` of a damaged store; nil if it would not.
    ///
    /// - Throws: errors of reading the copy.
    package static func damage(ofCopy path: String) async throws(KeystoreError) -> String? {
        try await onBlockingThread { () throws(KeystoreError) in
            do throws(KeystoreError) { try StoreCopy(path).checkRows() } catch {
                guard case .malformedBackup(_, let detail) = error else { throw error }
                return detail
            }
            return nil
        }
    }
}
