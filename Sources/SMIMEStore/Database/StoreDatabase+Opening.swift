import Foundation
import Synchronization

extension StoreDatabase {
    /// An empty store in memory, for readers if there is no store yet.
    static func empty(path: String) throws(KeystoreError) -> StoreDatabase {
        try attempt(path) {
            let engine = try SQLiteEngine.inMemory()
            try engine.migrate(by: Schema.current.numbered)
            return StoreDatabase(engine, path: path, isReadOnly: true)
        }
    }

    /// Opens the database of `location`, if its schema version is the current one. The caller has checked the folder.
    ///
    /// - Returns: nil if the schema version is older and the store must be migrated first.
    static func open(
        _ location: StoreLocation,
        readOnly: Bool
    ) throws(KeystoreError) -> StoreDatabase? {
        let path = location.database
        guard let engine = try openEngine(location, readOnly: readOnly) else { return nil }
        return StoreDatabase(engine, path: path, isReadOnly: readOnly) {
            guard let engine = try openEngine(location, readOnly: readOnly) else {
                throw KeystoreError.cannotOpen(path: path, reason: "a store with an older schema replaced the file")
            }
            return engine
        }
    }

    private static func openEngine(
        _ location: StoreLocation,
        readOnly: Bool
    ) throws(KeystoreError) -> (any SQLEngine)? {
        let path = location.database
        // The version is read before anything is written: a newer or foreign file must stay unchanged, byte for byte.
        let reader = try openReader(location)
        guard try schemaVersion(of: reader, path) == Schema.current.version else { return nil }
        guard !readOnly else { return reader }
        guard access(location.dataFolder, W_OK) == 0 else { throw KeystoreError.notWritable(path: path) }
        return try attempt(path) {
            try SQLiteEngine.openPool(path)
        }
    }

    /// Rejects an older store that cannot be written, before SQLite creates files beside it.
    ///
    /// - Throws: `.notMigrated`
    static func checkCanMigrate(_ location: StoreLocation) throws(KeystoreError) {
        guard access(location.dataFolder, W_OK) != 0 || access(location.database, W_OK) != 0 else { return }
        let found = try schemaVersion(of: try openReader(location), location.database)
        throw KeystoreError.notMigrated(path: location.database, found: found, known: Schema.current.version)
    }

    /// Migrates an older store to the schema version of `schema`. The caller holds `StoreLock`.
    static func migrate(_ location: StoreLocation, to schema: Schema = .current) throws(KeystoreError) {
        try attempt(location.database) {
            let pool = try SQLiteEngine.openPool(location.database)
            try pool.migrate(by: schema.numbered)
            try pool.close()
        }
    }

    /// The steps that `migrate` would take. Nothing is changed.
    static func pendingMigration(
        of location: StoreLocation,
        to schema: Schema = .current
    ) throws(KeystoreError) -> StoreMigration {
        let found = try schemaVersion(of: try openReader(location), location.database, knowing: schema)
        return StoreMigration(found: found, known: schema.version)
    }

    /// The schema version of a store, if a program with `schema` can use or migrate the store.
    ///
    /// - Throws: `.corrupt`, `.newer`, `.older`
    @discardableResult
    static func schemaVersion(
        of reader: any SQLEngine,
        _ path: String,
        knowing schema: Schema = .current
    ) throws(KeystoreError) -> Int {
        let found = try attempt(path) { try reader.schemaVersion() }
        guard found.applicationID != Schema.developmentID else {
            throw KeystoreError.older(path: path, found: found.version)
        }
        guard found.applicationID == Schema.applicationID else {
            throw KeystoreError.corrupt(path: path, detail: "not a store of smime")
        }
        guard min(found.version, found.serves) <= schema.version else {
            throw KeystoreError.newer(path: path, found: found.version, known: schema.version)
        }
        guard found.version >= Schema.oldest else {
            throw KeystoreError.older(path: path, found: found.version)
        }
        return found.version
    }

    /// Creates a store under a temporary name and then renames it, so that no other process sees an incomplete store. The
    /// caller holds `StoreLock`.
    static func create(
        _ location: StoreLocation,
        filling fill: (SQLDatabase) throws -> Void
    ) throws(KeystoreError) {
        let successor = location.databaseSuccessor
        remove(successor)
        Foundation.close(try StoreFolder.createPrivate(successor))
        try attempt(location.database) { try complete(successor, filling: fill) }
        try StoreFolder(location: location).rename(successor, to: location.database)
    }

    /// Migrates a database that is not in use yet to the current schema version, so that it can replace a store.
    static func complete(_ path: String, filling fill: (SQLDatabase) throws -> Void = { _ in }) throws {
        let engine = try SQLiteEngine.openWriter(path)
        try engine.migrate(by: Schema.current.numbered)
        try engine.writeNow(fill)
        try engine.useLog()
        try engine.close()
    }

    /// Removes a database and the files that SQLite creates beside it.
    static func remove(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private static func openReader(_ location: StoreLocation) throws(KeystoreError) -> SQLiteEngine {
        let isFrozen = access(location.dataFolder, W_OK) != 0 && !SQLiteEngine.hasLog(location.database)
        return try attempt(location.database) {
            try SQLiteEngine.openReader(location.database, isFrozen: isFrozen)
        }
    }

    private static func attempt<Value>(_ path: String, _ body: () throws -> Value) throws(KeystoreError) -> Value {
        do { return try body() } catch { throw KeystoreError(error, path: path) }
    }
}

/// The engine of an open database. It is reopened if another file has replaced the one that was opened, or if the engine does
/// not notice that the file was changed.
final class OpenEngine: Sendable {
    /// Identifies a file independently of its name.
    private struct FileIdentity: Equatable {
        let device: dev_t
        let node: ino_t

        /// Nil if there is no file at `path`.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, node) = (status.st_dev, status.st_ino)
        }
    }

    private struct State {
        var engine: any SQLEngine
        var file: FileIdentity?
    }

    private let path: String
    private let reopen: (@Sendable () throws -> any SQLEngine)?
    private let state: Mutex<State>

    /// - Parameter reopen: opens the file at `path`; nil if the database is not a file, or is used by this process only.
    init(_ engine: any SQLEngine, path: String, reopen: (@Sendable () throws -> any SQLEngine)?) {
        (self.path, self.reopen) = (path, reopen)
        state = Mutex(State(engine: engine, file: reopen == nil ? nil : FileIdentity(path)))
    }

    /// The engine that was opened last.
    var engine: any SQLEngine { state.withLock { $0.engine } }

    /// Reopens the database if the file at the path has been replaced, or if the engine is outdated. Callers that still use
    /// the earlier engine keep it until they are done.
    ///
    /// - Returns: whether the database was reopened.
    /// - Throws: `KeystoreError.missing` if there is no file at the path any more; what opening throws.
    func reopenIfReplaced() throws -> Bool {
        guard let reopen else { return false }
        let found = FileIdentity(path)
        return try state.withLock { state in
            guard let known = state.file, known != found || state.engine.isOutdated else { return false }
            guard let found else { throw KeystoreError.missing(path: path) }
            state = State(engine: try reopen(), file: found)
            return true
        }
    }
}
