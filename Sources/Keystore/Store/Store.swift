import CMS
public import Foundation
import GRDB

/// The store of one user or machine: accounts with their keys, other people's certificates, trust anchors.
///
/// Opening checks that nobody else can read or change it. What is handed out are values; signing and decrypting happen
/// outside, in parallel. Reads see one state and wait for no writer; writers follow each other, also across processes.
///
/// ```swift
/// let store = try await Store.open(StoreLocation(home: "/home/alice/.smime"), mode: .readOnly)
/// let signer = try await store.accounts.signingIdentity(for: EmailAddress("alice@example.org"), at: .now)
/// ```
public final class Store: Sendable {
    /// What the store is opened for.
    public enum Mode: Sendable {
        /// Looking. Where there is no store yet, an empty one is seen and nothing is made.
        case readOnly
        /// Changing. A store is made where there is none.
        case readWrite
    }

    public let location: StoreLocation
    /// Whether a store was there or has been made.
    public let exists: Bool
    public let accounts: AccountStore
    public let anchors: AnchorStore
    public let policy: PolicyStore
    public let recipients: RecipientRegistry
    public let settings: SettingStore
    let database: StoreDatabase

    /// Opens the store at `location`, migrating an older one.
    ///
    /// - Throws: `.permissions`, `.corrupt`, `.newer`, `.cannotOpen`, `.busy`; with `.readWrite` also `.cannotCreate`,
    ///   `.notWritable`, `.writeFailed`.
    public static func open(_ location: StoreLocation, mode: Mode) async throws(KeystoreError) -> Store {
        // Opening waits for disks and locks, which must not hold up one of the few cooperative threads.
        let opened: Result<Store, KeystoreError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(KeystoreError) in try openNow(location, mode: mode) }
                )
            }
        }
        return try opened.get()
    }

    /// Stores everything in `batch`, or nothing. What is there already stays as it is.
    ///
    /// - Parameter time: when the records say they were added.
    public func add(_ batch: ImportBatch, at time: Date) async throws(KeystoreError) -> ImportReport {
        let sealed = try await seal(batch.identities)
        return try await database.write { database in
            try ImportTransaction(database: database, time: time.seconds).run(batch, sealedKeys: sealed)
        }
    }

    /// Looks for damage: in the database's pages, in references, and whether the store key opens.
    ///
    /// - Returns: one sentence for each finding; none for a sound store.
    /// - Throws: `.keyMissing`, `.keyMismatch`, `.permissions`; `.corrupt` if the database cannot even be searched.
    public func check() async throws(KeystoreError) -> [String] {
        guard exists else { return [] }
        let (findings, sealed) = try await database.read { database in
            let pages = try String.fetchAll(database, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
            let references = try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").count
            let findings = pages + (references > 0 ? ["\(references) references to records that are missing"] : [])
            return (findings, try StoreKey.sealed(in: database))
        }
        _ = try StoreKey(sealed: sealed, location: location)
        return findings
    }

    /// Writes what is still in memory and closes the files. Nothing can be asked of the store afterwards.
    public func close() throws(KeystoreError) {
        // SQLite tidies its log away when the last connection closes, unless that one may only read.
        (database.writer as? DatabasePool)?.invalidateReadOnlyConnections()
        do { try database.writer.close() } catch { throw KeystoreError(error, path: location.path) }
    }

    private init(location: StoreLocation, database: StoreDatabase, exists: Bool) {
        self.location = location
        self.database = database
        self.exists = exists
        accounts = AccountStore(database: database, location: location)
        anchors = AnchorStore(database: database)
        policy = PolicyStore(database: database)
        recipients = RecipientRegistry(database: database)
        settings = SettingStore(database: database)
    }

    /// Opens the store on this thread, which may block.
    static func openNow(_ location: StoreLocation, mode: Mode) throws(KeystoreError) -> Store {
        let folder = StoreFolder(location: location)
        if try !folder.exists() {
            if mode == .readOnly {
                return Store(location: location, database: try .empty(path: location.path), exists: false)
            }
            try folder.create()
            let lock = try StoreLock(location)
            if try !folder.exists() { try create(folder) }
            _ = consume lock
        }
        if let database = try StoreDatabase.open(location, readOnly: mode == .readOnly) {
            return Store(location: location, database: database, exists: true)
        }
        let lock = try StoreLock(location)
        try StoreDatabase.migrate(location)
        _ = consume lock
        guard let database = try StoreDatabase.open(location, readOnly: mode == .readOnly) else {
            throw KeystoreError.corrupt(path: location.database, detail: "cannot be migrated")
        }
        return Store(location: location, database: database, exists: true)
    }

    private static func create(_ folder: StoreFolder) throws(KeystoreError) {
        do {
            try StoreDatabase.create(folder.location, filling: StoreKey.create(in: folder))
        } catch {
            throw KeystoreError(error, path: folder.location.path)
        }
    }

    private func seal(_ identities: [ImportBatch.IdentityItem]) async throws(KeystoreError) -> [[UInt8]] {
        guard !identities.isEmpty else { return [] }
        let protector = try await database.read { try StoreKey.sealed(in: $0) }
        let key = try StoreKey(sealed: protector, location: location)
        do {
            return try identities.map { try key.seal($0.key, for: $0.certificate.fingerprint) }
        } catch {
            throw KeystoreError.unexpected(String(describing: error))
        }
    }
}
