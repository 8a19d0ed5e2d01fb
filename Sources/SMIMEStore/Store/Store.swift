package import Foundation
import PKIX

/// The store of a user or a machine: accounts with their private keys, other people's certificates, and trust anchors.
///
/// Opening checks that no other user can read or change the store. The methods return values; signing and decrypting happen
/// outside of the store, in parallel. Each read sees one consistent state and does not wait for writers. Writers wait for
/// each other, also across processes; on a server, a writer that conflicts with another one runs again.
///
/// ```swift
/// let store = try await Store.open("/home/alice/.smime", mode: .readOnly)
/// let opened = try await Message(contentsOf: "mail.eml").opened(with: store)
/// ```
public final class Store: Sendable {
    /// How the store is opened.
    @nonexhaustive
    public enum Mode: Sendable {
        /// Reading. A missing store is treated as empty, and is not created; on a server it is an error.
        case readOnly
        /// Reading and writing. Creates a missing store, except on a server, and except where a store has served mail.
        case readWrite
        /// Reading and writing an existing store. A missing store is not created, because an empty store has no rules.
        case readWriteExisting
    }

    /// The paths of the store.
    package let location: StoreLocation
    /// Whether the store existed or has been created.
    public let exists: Bool
    /// The accounts with their identities.
    package let accounts: AccountStore
    /// The trust anchors, intermediates, revocation lists, and OCSP responses.
    package let anchors: AnchorStore
    /// The record of delivered messages.
    package let journal: DeliveryJournal
    /// The rules of the sending policy.
    package let policy: PolicyStore
    /// The certificates known for addresses and domains, the accounts' own included.
    package let recipients: RecipientRegistry
    /// The settings, as strings.
    package let settings: SettingStore
    let database: StoreDatabase
    let unlocker: StoreUnlocker

    /// Opens the store at `location`. Migrates a store with an older schema version, even if `mode` is `.readOnly`.
    ///
    /// - Parameter passphrase: the source of the passphrase, called when a private key of a locked store is needed.
    /// - Throws: `.permissions`, `.corrupt`, `.newer`, `.older`, `.notMigrated`, `.cannotOpen`, `.busy`; for a store on a
    ///   server also `.noStore`, `.unreachable`, `.notPossible`; unless `mode` is `.readOnly` also `.cannotCreate`,
    ///   `.missing`, `.notWritable`, `.writeFailed`.
    package static func open(
        _ location: StoreLocation,
        mode: Mode,
        passphrase: PassphraseSource? = nil
    ) async throws(KeystoreError) -> Store {
        // Opening waits for disks and locks, and must not block one of Swift's few cooperative threads.
        try await onBlockingThread { () throws(KeystoreError) in
            try openNow(location, mode: mode, passphrase: passphrase)
        }
    }

    /// Stores everything in `batch`, or nothing. Existing accounts and certificates stay; newer revocation lists and OCSP
    /// responses replace older ones.
    ///
    /// - Parameter time: the time of the import, stored with the new data.
    /// - Throws: `.unmatchedKey`, `.noAccount`, `.noAddress` before anything is written; what opening the store key throws;
    ///   `.notWritable`, `.writeFailed`, `.busy`
    package func add(_ batch: ImportBatch, at time: Date) async throws(KeystoreError) -> ImportReport {
        for item in batch.identities { try item.check() }
        for item in batch.recipients { try item.check() }
        return try await sealing(batch.identities) { sealed, database in
            try ImportTransaction(database: database, time: time.seconds).run(batch, sealedKeys: sealed)
        }
    }

    /// Runs `body` in a transaction, with the private keys of `identities` sealed by the current store key.
    func sealing<Value: Sendable>(
        _ identities: [ImportBatch.IdentityItem],
        _ body: @escaping @Sendable (_ sealedKeys: [[UInt8]], SQLDatabase) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try database.checkWritable()
        guard !identities.isEmpty else { return try await database.write { try body([], $0) } }
        for _ in 0..<Protectors.changesSeen {
            let protectors = try await database.read { try Protectors(in: $0) }
            let sealed: [[UInt8]]
            do {
                let key = try await unlocker.key(for: protectors)
                sealed = try identities.map(\.identity).map { try key.seal($0.key, for: $0.certificate.fingerprint) }
            } catch {
                if case KeystoreError.keyMismatch = error, try await isChanged(protectors) { continue }
                throw KeystoreError(error, path: location.path)
            }
            // Another process may have replaced the store key. Data sealed with the old key could never be opened again.
            let value: Value? = try await database.write { database in
                try Protectors(in: database) == protectors ? try body(sealed, database) : nil
            }
            if let value { return value }
        }
        throw KeystoreError.busy(path: location.path)
    }

    /// Runs `body` within a transaction, like a callback of the database; for tests.
    package func insideTransaction(
        isWriting: Bool,
        _ body: @escaping @Sendable () throws -> Void
    ) async throws(KeystoreError) {
        if isWriting {
            try await database.write { _ in try body() }
        } else {
            try await database.read { _ in try body() }
        }
    }

    /// Waits for the running reads and writes, and closes the database. Removes the store key and the passphrase source from
    /// memory.
    ///
    /// Later calls throw `.closed`. An operation of several steps that is in progress throws it at its next step. Closing
    /// twice has no effect.
    package func close() async throws(KeystoreError) {
        unlocker.close()
        try await database.close()
    }

    /// A view of this store for handling one message in a long-running process. The view uses the cache of earlier messages,
    /// including opened private keys, and checks once, in its first query, whether the store has changed.
    ///
    /// The reads of the view are not one snapshot. Closing this store closes the view.
    package func forOneMessage() -> Store {
        Store(location, database.forOneMessage(), unlocker: unlocker, exists: exists)
    }

    /// Creates the lock file of deliveries, as a mark that this store has served mail. If the database is lost later, opening
    /// does not create an empty store, with which all mail would pass in clear. Does nothing for a read-only store and for a
    /// store on a server.
    ///
    /// - Throws: `.missing` if there is no store; `.cannotCreate`, `.permissions`
    package func markAsServing() throws(KeystoreError) {
        guard exists else { throw KeystoreError.missing(path: location.path) }
        guard !isReadOnly, location.server == nil else { return }
        try DeliveryLock.createFile(of: location)
    }

    /// The number of lookups that the cache has answered (`hits`), and that needed a query (`misses`).
    package var cacheUse: (hits: Int, misses: Int) { database.cacheUse }

    /// The change counter that was read last, by this process or by another one of the same service.
    package var latestChangeCount: Int64 { database.latestChangeCount }

    /// Notes that another process of the service has read the change counter `number`. The store then does not use an older
    /// state on a standby server.
    package func noteChangeCount(_ number: Int64) { database.noteChangeCount(number) }

    /// Whether changes are rejected.
    package var isReadOnly: Bool { database.isReadOnly }

    /// Empties the cache. Needed after another store object of this process has changed data that does not raise the change
    /// counter, such as the date of an author's last message.
    package func emptyCache() { database.emptyCache() }

    init(
        _ location: StoreLocation,
        _ database: StoreDatabase,
        unlocker: StoreUnlocker,
        exists: Bool
    ) {
        self.location = location
        self.database = database
        self.unlocker = unlocker
        self.exists = exists
        accounts = AccountStore(database: database, location: location, unlocker: unlocker)
        anchors = AnchorStore(database: database)
        journal = DeliveryJournal(database: database)
        policy = PolicyStore(database: database)
        recipients = RecipientRegistry(database: database)
        let isShared = location.server != nil
        settings = SettingStore(database: database, isShared: isShared, host: location.hostSettings)
    }

    func isChanged(_ protectors: Protectors) async throws(KeystoreError) -> Bool {
        try await database.read { try Protectors(in: $0) } != protectors
    }

    /// Opens the store on this thread, which may block.
    static func openNow(
        _ location: StoreLocation,
        mode: Mode,
        passphrase: PassphraseSource? = nil
    ) throws(KeystoreError) -> Store {
        if let server = location.server {
            return try openNow(location, on: server, mode: mode, passphrase: passphrase)
        }
        let folder = StoreFolder(location: location)
        if try !folder.exists() {
            if mode == .readOnly {
                return Store(
                    location,
                    try .empty(path: location.path),
                    unlocker: StoreUnlocker(location, source: nil),
                    exists: false
                )
            }
            guard mode == .readWrite, try !folder.hasServedMail() else {
                throw KeystoreError.missing(path: location.path)
            }
            try folder.create()
            let lock = try StoreLock(location)
            if try !folder.exists() { try create(folder) }
            _ = consume lock
        }
        let unlocker = StoreUnlocker(location, source: passphrase)
        if let database = try StoreDatabase.open(location, readOnly: mode == .readOnly) {
            let store = Store(location, database, unlocker: unlocker, exists: true)
            if mode != .readOnly { try store.finishInterruptedChange() }
            return store
        }
        try StoreMigration.run(on: location)
        guard let database = try StoreDatabase.open(location, readOnly: mode == .readOnly) else {
            throw KeystoreError.corrupt(path: location.database, detail: "cannot be migrated")
        }
        return Store(location, database, unlocker: unlocker, exists: true)
    }

    /// Completes a change of the store key that was interrupted before the key file was updated.
    func finishInterruptedChange() throws(KeystoreError) {
        guard try StoreFolder(location: location).inspect(location.keyFileSuccessor, isFolder: false) else { return }
        let lock = try StoreLock(location)
        do { try database.withEngine(settleKeyFile) } catch { throw KeystoreError(error, path: location.database) }
        _ = consume lock
    }

    private static func create(_ folder: StoreFolder) throws(KeystoreError) {
        do {
            let protectors = try StoreKey.create(in: folder)
            try StoreDatabase.create(folder.location) { try protectors.save(in: $0) }
        } catch {
            throw KeystoreError(error, path: folder.location.path)
        }
    }
}
