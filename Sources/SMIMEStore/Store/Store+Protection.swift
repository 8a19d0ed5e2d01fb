package import Foundation
package import LibCrypto
import PKIX

extension Store {
    /// The kind of protection of the store key.
    ///
    /// - Throws: `.corrupt` if there is no protector.
    package func protection() async throws(KeystoreError) -> Protection {
        let protectors = try await database.read { try Protectors(in: $0) }
        guard let protection = protectors.protection else {
            throw KeystoreError.corrupt(
                path: location.database,
                detail: "neither a key file nor a passphrase opens its private keys"
            )
        }
        return protection
    }

    /// Changes the protectors of the store key. The private keys are not sealed again.
    ///
    /// - Parameter passphrase: the new passphrase; nil keeps the current one.
    /// - Throws: what opening the store key throws; `.locked` if a passphrase is required and there is none; `.busy` if
    ///   other processes keep changing the protectors.
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

    /// The maximum number of attempts. An attempt fails if another process changes the protectors meanwhile.
    private static let maximumChanges = 20

    /// Counts a change that another process made since `before`. The caller then tries again.
    ///
    /// - Throws: `error` if there was no change, or after too many changes.
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
        // `switch` binds the passphrase, since a borrowed value cannot be copied into a closure.
        switch passphrase {
        case .some(let passphrase): wrapped = try attempt { try key.wrapped(by: passphrase) }
        case .none: break
        }
        guard !protection.usesPassphrase || wrapped != nil else {
            throw KeystoreError.locked(path: location.path, why: "a new passphrase is needed, and none was given")
        }
        let passphrases = protection.usesPassphrase ? wrapped : nil
        try await change { store, engine, file in
            var after = Protectors(keyFile: protection.usesKeyFile ? before.keyFile : nil, passphrase: passphrases)
            // A key file that does not open the store key is replaced, too: the passphrase has opened the store.
            let isSound = before.keyFile.map { (try? StoreKey(sealed: $0, location: store.location)) != nil } ?? false
            if protection.usesKeyFile, !isSound {
                let fileKey = try SealingKey.generate()
                try file.prepare(fileKey)
                after.keyFile = try key.sealed(under: fileKey)
            }
            try store.save(after, from: before, with: engine) { _ in }
        }
    }

    /// Gives the store a new store key, and a new key file if it has one. All private keys are sealed again in one
    /// transaction. Older copies of the store need the old key file, which stays beside the new one under another name.
    ///
    /// - Parameters:
    ///   - passphrase: the current passphrase of the store, which stays the same; nil if there is none.
    ///   - time: the time in the name of the old key file.
    /// - Returns: the number of private keys, and the path of the old key file; nil if the store had none.
    /// - Throws: what opening the store key throws; `.locked`, `.wrongPassphrase`; `.busy` if other processes keep changing
    ///   the protectors; `.corrupt` if a private key cannot be opened.
    package func rekey(
        passphrase: borrowing Passphrase?,
        at time: Date
    ) async throws(KeystoreError) -> (keys: Int, oldKeyFile: String?) {
        try database.checkWritable()
        var changes = 0
        while true {
            let before = try await database.read { try Protectors(in: $0) }
            do throws(KeystoreError) { return try await rekey(passphrase: passphrase, from: before, at: time) } catch {
                try await count(&changes, since: before, or: error)
            }
        }
    }

    private func rekey(
        passphrase: borrowing Passphrase?,
        from before: Protectors,
        at time: Date
    ) async throws(KeystoreError) -> (keys: Int, oldKeyFile: String?) {
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
            let fileKey = before.keyFile == nil ? nil : try SealingKey.generate()
            var kept: String?
            if let fileKey {
                after.keyFile = try new.sealed(under: fileKey)
                kept = try file.keepCopy(at: time)
            }
            do {
                if let fileKey { try file.prepare(fileKey) }
                return (
                    try store.save(after, from: before, with: engine) { try Self.reseal(from: old, to: new, in: $0) },
                    kept
                )
            } catch {
                if let kept { file.removeCopy(kept) }
                throw error
            }
        }
    }

    /// Runs `body` under `StoreLock`, so that no other process of this host changes the store's protectors, on a thread that
    /// may block.
    ///
    /// The store cannot be closed between the change of the database and that of the key file.
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

    /// Replaces the protectors `before` by `after` in one transaction, and then updates the key file.
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
            // The prepared key file is no longer needed, unless the transaction may still be committed.
            try? settleKeyFile(with: engine)
            throw error
        }
        try settleKeyFile(with: engine)
        // The old sealed keys should not stay in the write-ahead log. This fails while another process reads.
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

    /// Makes the key file match the database, after a change or an interrupted change. The caller holds `StoreLock`.
    ///
    /// A file is removed only when no transaction is pending. A server may still commit the transaction of a process that has
    /// gone, for example when its synchronous standby returns, and the store then needs that file.
    func settleKeyFile(with engine: any SQLEngine) throws(KeystoreError) {
        let file = KeyFile(location)
        let seen = try attempt { try engine.readNow { try Protectors(in: $0) } }
        let successor = try file.successor()
        if let sealed = seen.keyFile {
            guard let successor else { return }
            guard !StoreKey.opens(sealed, under: successor) else { return try file.replaceBySuccessor() }
        }
        let protectors = try attempt { try engine.readSettled { try Protectors(in: $0) } }
        guard let sealed = protectors.keyFile else {
            // The key file is removed only if a passphrase can open the store.
            if protectors.passphrase != nil { try file.remove() }
            return
        }
        guard let successor else { return }
        if StoreKey.opens(sealed, under: successor) { try file.replaceBySuccessor() } else { file.discardSuccessor() }
    }

    private func attempt<Value>(_ body: () throws -> Value) throws(KeystoreError) -> Value {
        do { return try body() } catch { throw KeystoreError(error, path: location.database) }
    }
}
