package import Foundation
import PKIX

/// The store of one user or machine: accounts with their keys, other people's certificates, trust anchors.
///
/// Opening checks that no other user can read or change it. Its methods return values; signing and decrypting happen
/// outside, in parallel. Reads see one state and wait for no writer; writers wait for each other, also across
/// processes.
///
/// ```swift
/// let store = try await Store.open("/home/alice/.smime", mode: .readOnly)
/// let opened = try await Message(contentsOf: "mail.eml").opened(with: store)
/// ```
public final class Store: Sendable {
    /// How the store is opened.
    @nonexhaustive
    public enum Mode: Sendable {
        /// Reading. A missing store looks empty, and is not created.
        case readOnly
        /// Reading and writing. Creates a missing store, but not in the place of one that has sent mail.
        case readWrite
        /// Reading and writing an existing store. A missing one is not created, because an empty store has no rules.
        case readWriteExisting
    }

    /// The place of its files.
    package let location: StoreLocation
    /// Whether a store was there or has been made.
    public let exists: Bool
    /// The accounts with their identities.
    package let accounts: AccountStore
    /// Trust anchors, intermediates, revocation lists, and answers of responders.
    package let anchors: AnchorStore
    /// The record of messages that were sent.
    package let journal: DeliveryJournal
    /// The rules.
    package let policy: PolicyStore
    /// Other people's certificates.
    package let recipients: RecipientRegistry
    /// The settings, as texts.
    package let settings: SettingStore
    let database: StoreDatabase
    let unlocker: StoreUnlocker

    /// Opens the store at `location`, migrating an older one.
    ///
    /// - Parameter passphrase: where the passphrase of a locked store comes from, once a private key is needed.
    /// - Throws: `.permissions`, `.corrupt`, `.newer`, `.cannotOpen`, `.busy`; with `.readWrite` also `.cannotCreate`,
    ///   `.missing`, `.notWritable`, `.writeFailed`.
    package static func open(
        _ location: StoreLocation,
        mode: Mode,
        passphrase: PassphraseSource? = nil
    ) async throws(KeystoreError) -> Store {
        // Opening waits for disks and locks, which must not hold up one of the few cooperative threads.
        try await onBlockingThread { () throws(KeystoreError) in
            try openNow(location, mode: mode, passphrase: passphrase)
        }
    }

    /// Stores everything in `batch`, or nothing. What is there already stays as it is.
    ///
    /// - Parameter time: when the records say they were added.
    /// - Throws: `.unmatchedKey`, `.noAccount`, `.noAddress` before anything is written; what opening the store key throws; `.notWritable`,
    ///   `.writeFailed`, `.busy`
    package func add(_ batch: ImportBatch, at time: Date) async throws(KeystoreError) -> ImportReport {
        for item in batch.identities { try item.check() }
        for item in batch.recipients { try item.check() }
        return try await sealing(batch.identities) { sealed, database in
            try ImportTransaction(database: database, time: time.seconds).run(batch, sealedKeys: sealed)
        }
    }

    /// One transaction that stores the keys of `identities`, sealed by the key that the store has at that moment.
    func sealing<Value: Sendable>(
        _ identities: [ImportBatch.IdentityItem],
        _ body: @escaping @Sendable (_ sealedKeys: [[UInt8]], SQLDatabase) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try database.checkWritable()
        guard !identities.isEmpty else { return try await database.write { try body([], $0) } }
        for _ in 0..<Self.changesSeen {
            let protectors = try await database.read { try Protectors(in: $0) }
            let sealed: [[UInt8]]
            do {
                let key = try await unlocker.key(for: protectors)
                sealed = try identities.map(\.identity).map { try key.seal($0.key, for: $0.certificate.fingerprint) }
            } catch {
                if case KeystoreError.keyMismatch = error, try await isChanged(protectors) { continue }
                throw KeystoreError(error, path: location.path)
            }
            // Another process may have changed the store key; data sealed with the old one would never open again.
            let value: Value? = try await database.write { database in
                try Protectors(in: database) == protectors ? try body(sealed, database) : nil
            }
            if let value { return value }
        }
        throw KeystoreError.busy(path: location.path)
    }

    /// Runs `body` inside a transaction, as callbacks of the database run; for tests.
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

    /// Writes what is still in memory and closes the files, after the reads and writes that are under way. The store key
    /// and where its passphrase comes from are forgotten.
    ///
    /// Whatever is asked of the store afterwards, also by those who are between two steps, ends with `.closed`. Closing
    /// twice does no harm.
    package func close() async throws(KeystoreError) {
        unlocker.close()
        try await database.close()
    }

    /// The same store for one message, for processes that stay: its reads share what they take out of the store, opened keys among it,
    /// with those of earlier messages, and look once, in the first query, whether anything has changed since.
    ///
    /// What it reads first and what it reads last may be of two moments, as with any store. It is closed with this one.
    package func atOneMoment() -> Store { Store(location, database.atOneMoment(), unlocker: unlocker, exists: exists) }

    /// How many look-ups what is remembered has answered, and how many went to the files.
    package var cacheUse: (hits: Int, misses: Int) { database.cacheUse }

    /// Whether changes are refused.
    package var isReadOnly: Bool { database.isReadOnly }

    /// Forgets what is remembered for later messages, because another store object of this process has changed what no change counter
    /// counts, such as the date of an author's last message.
    package func noteChange() { database.noteChange() }

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

    /// How many changes of the store key may come between looking and doing.
    static let changesSeen = 5

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
            guard mode == .readWrite, try !folder.hasServed() else { throw KeystoreError.missing(path: location.path) }
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

    /// A change of the store key that was killed before it had tidied up.
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
