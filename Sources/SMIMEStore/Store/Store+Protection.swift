import Foundation
package import LibCrypto
import PKIX

extension Store {
    /// What protects the store key.
    ///
    /// - Throws: `.corrupt` if nothing does.
    package func protection() async throws(KeystoreError) -> Protection {
        let protectors = try await database.read { try Protectors(in: $0) }
        guard let protection = protectors.protection else {
            throw KeystoreError.corrupt(path: location.database, detail: "has no protector")
        }
        return protection
    }

    /// Changes what protects the store key. No private key is touched.
    ///
    /// - Parameter passphrase: the new one; nil keeps the one there is.
    /// - Throws: what opening the store key throws; `.locked` if a passphrase is wanted and there is none; `.busy` if
    ///   others change it all the time.
    package func protect(
        with protection: Protection,
        passphrase: borrowing Passphrase?
    ) async throws(KeystoreError) {
        try database.checkWritable()
        var changes = 0
        while true {
            let before = try await database.read { try Protectors(in: $0) }
            do throws(KeystoreError) {
                return try await protect(with: protection, passphrase: passphrase, from: before)
            } catch { try await count(&changes, since: before, or: error) }
        }
    }

    /// How many changes by others may come in between.
    private static let maximumChanges = 20

    /// Counts a change by another process since `before`, after which the caller tries again.
    ///
    /// - Throws: `error` if nothing was changed, or after too many changes.
    private func count(
        _ changes: inout Int,
        since before: Protectors,
        or error: KeystoreError
    ) async throws(KeystoreError) {
        changes += 1
        guard changes < Self.maximumChanges, try await isChanged(before) else { throw error }
    }

    private func protect(
        with protection: Protection,
        passphrase: borrowing Passphrase?,
        from before: Protectors
    ) async throws(KeystoreError) {
        let key = try await unlocker.key(for: before)
        var wrapped = before.passphrase
        // Bound by `switch`, since a borrowed value cannot be copied into a closure.
        switch passphrase {
        case .some(let passphrase): wrapped = try attempt { try key.wrapped(by: passphrase) }
        case .none: break
        }
        guard !protection.usesPassphrase || wrapped != nil else {
            throw KeystoreError.locked(path: location.path, why: "there is no passphrase to lock it with")
        }
        let passphrases = protection.usesPassphrase ? wrapped : nil
        try await change { store, engine, file in
            var after = Protectors(keyFile: protection.usesKeyFile ? before.keyFile : nil, passphrase: passphrases)
            // A key file that does not open its protector is replaced, too: the store was opened by the passphrase.
            let isSound = before.keyFile.map { (try? StoreKey(sealed: $0, location: store.location)) != nil } ?? false
            if protection.usesKeyFile, !isSound {
                let fileKey = try SealingKey.generate()
                try file.prepare(fileKey)
                after.keyFile = try key.sealed(under: fileKey)
            }
            try store.save(after, from: before, with: engine) { _ in }
        }
    }

    /// Gives the store a new key, and a new key file if it has one; all private keys are sealed anew in one transaction.
    ///
    /// - Parameter passphrase: the passphrase the store has, if it has one; it stays.
    /// - Returns: how many private keys there are.
    /// - Throws: what opening the store key throws; `.locked`, `.wrongPassphrase`; `.busy` if others change it all the
    ///   time; `.corrupt` for a private key that does not open.
    package func rekey(passphrase: borrowing Passphrase?) async throws(KeystoreError) -> Int {
        try database.checkWritable()
        var changes = 0
        while true {
            let before = try await database.read { try Protectors(in: $0) }
            do throws(KeystoreError) { return try await rekey(passphrase: passphrase, from: before) } catch {
                try await count(&changes, since: before, or: error)
            }
        }
    }

    private func rekey(
        passphrase: borrowing Passphrase?,
        from before: Protectors
    ) async throws(KeystoreError) -> Int {
        let new = try attempt { try StoreKey.generate() }
        var after = Protectors()
        let old: StoreKey
        if let wrapped = before.passphrase {
            switch passphrase {
            case .none: throw KeystoreError.locked(path: location.path, why: nil)
            case .some(let passphrase):
                let key = try StoreKey(wrapped: wrapped, passphrase: passphrase, location: location)
                guard let key else { throw KeystoreError.wrongPassphrase(path: location.path) }
                old = key
                after.passphrase = try attempt { try new.wrapped(by: passphrase) }
            }
        } else {
            old = try await unlocker.key(for: before)
        }
        let protectors = after
        return try await change { store, engine, file in
            var after = protectors
            if before.keyFile != nil {
                let fileKey = try SealingKey.generate()
                try file.prepare(fileKey)
                after.keyFile = try new.sealed(under: fileKey)
            }
            return try store.save(after, from: before, with: engine) { try Self.reseal(from: old, to: new, in: $0) }
        }
    }

    /// Runs `body` alone among all processes that change the store's protection, on a thread that may block.
    ///
    /// The store cannot be closed between the database and the key file that belongs to it.
    private func change<Value: Sendable>(
        _ body: @escaping @Sendable (Store, any SQLEngine, KeyFile) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try await onBlockingThread { [self] () throws(KeystoreError) in
            try attempt {
                try database.withEngine { engine in
                    let lock = try StoreLock(location)
                    try settleKeyFile(with: engine)
                    let value = try body(self, engine, KeyFile(location))
                    _ = consume lock
                    return value
                }
            }
        }
    }

    /// One transaction from one set of protectors to another, and the key file after it.
    private func save<Value: Sendable>(
        _ after: Protectors,
        from before: Protectors,
        with engine: any SQLEngine,
        _ body: @Sendable (SQLDatabase) throws -> Value
    ) throws -> Value {
        let value: Value
        do {
            value = try engine.writeNow { database in
                guard try Protectors(in: database) == before else { throw KeystoreError.busy(path: location.path) }
                let value = try body(database)
                try after.save(in: database)
                return value
            }
        } catch {
            // The prepared key file is no longer needed.
            try? settleKeyFile(with: engine)
            throw error
        }
        try settleKeyFile(with: engine)
        // The old sealed keys should not remain in the log; while others read, they may.
        engine.truncateLog()
        return value
    }

    private static func reseal(from old: StoreKey, to new: StoreKey, in database: SQLDatabase) throws -> Int {
        let rows = try database.rows(
            "SELECT certificate, fingerprint FROM private_key JOIN certificate ON id = certificate"
        )
        for row in rows {
            let (id, bytes): (Int64, [UInt8]) = try (row.value("certificate"), row.value("fingerprint"))
            guard let fingerprint = Fingerprint(bytes: bytes),
                let sealed = try database.value(
                    "SELECT sealed FROM private_key WHERE certificate = ?",
                    [id],
                    as: [UInt8].self
                )
            else { throw SQLError(.corrupt, "a private key is missing") }
            let resealed: [UInt8]
            do { resealed = try old.reseal(sealed, for: fingerprint, with: new) } catch CMSError
                .decryptionFailed
            {
                throw SQLError(
                    .corrupt,
                    "the private key of \(fingerprint) was changed"
                )
            }
            try database.execute("UPDATE private_key SET sealed = ? WHERE certificate = ?", [resealed, id])
        }
        return rows.count
    }

    /// Brings the key file to what the database says, after a change or one that was interrupted. Call under `StoreLock`.
    func settleKeyFile(with engine: any SQLEngine) throws(KeystoreError) {
        let file = KeyFile(location)
        let protectors = try attempt { try engine.readNow { try Protectors(in: $0) } }
        guard let sealed = protectors.keyFile else {
            // The key file is removed only if a passphrase opens the store.
            if protectors.passphrase != nil { try file.remove() }
            return
        }
        guard let successor = try file.successor() else { return }
        if StoreKey.opens(sealed, under: successor) { try file.adopt() } else { file.discard() }
    }

    private func attempt<Value>(_ body: () throws -> Value) throws(KeystoreError) -> Value {
        do { return try body() } catch { throw KeystoreError(error, path: location.database) }
    }
}
