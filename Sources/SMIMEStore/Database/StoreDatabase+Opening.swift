import Foundation
import GRDB

extension StoreDatabase {
    /// A store that holds nothing and lives in memory: what a reader sees where no store was made yet.
    static func empty(path: String) throws(KeystoreError) -> StoreDatabase {
        try attempt(path) {
            let writer = try DatabaseQueue(configuration: configuration(readOnly: false))
            try Schema.migrator.migrate(writer)
            return StoreDatabase(writer, path: path, isReadOnly: true)
        }
    }

    /// Opens the database of `location`, whose folder has been checked, if its form is ours.
    ///
    /// - Returns: nil if the form is older and must be migrated first.
    static func open(
        _ location: StoreLocation,
        readOnly: Bool
    ) throws(KeystoreError) -> StoreDatabase? {
        let path = location.database
        // A look before anything is written: a newer or foreign file stays as it is, byte for byte.
        let reader = try openReader(location)
        let found = try form(of: reader, path)
        guard found.version == Schema.version else { return nil }
        guard !readOnly else {
            return StoreDatabase(reader, path: path, isReadOnly: true)
        }
        guard access(location.dataFolder, W_OK) == 0 else { throw KeystoreError.notWritable(path: path) }
        return try attempt(path) {
            let pool = try openPool(path)
            // Whatever keeps it from being done now, busy writers as a rule, it is done the next time.
            _ = try? RecordMigration.run(on: pool, within: RecordMigration.openingTime)
            return StoreDatabase(pool, path: path, isReadOnly: false)
        }
    }

    /// Refuses an older store that cannot be written before anything is made beside it.
    ///
    /// - Throws: `.notMigrated`
    static func checkCanMigrate(_ location: StoreLocation) throws(KeystoreError) {
        guard access(location.dataFolder, W_OK) != 0 || access(location.database, W_OK) != 0 else { return }
        let found = try form(of: try openReader(location), location.database)
        throw KeystoreError.notMigrated(path: location.database, found: found.version, known: Schema.version)
    }

    /// Brings an older store to our form. Call under `StoreLock`.
    static func migrate(_ location: StoreLocation) throws(KeystoreError) {
        try attempt(location.database) {
            let pool = try openPool(location.database)
            try Schema.migrator.migrate(pool)
            try RecordMigration.run(on: pool, within: RecordMigration.openingTime)
            try pool.close()
        }
    }

    /// The work of `migrate` and of the migration of records. Changes nothing.
    static func pendingMigration(of location: StoreLocation) throws(KeystoreError) -> StoreMigration {
        let reader = try openReader(location)
        let found = try form(of: reader, location.database)
        return try attempt(location.database) {
            let records = try reader.read { database in
                try RecordMigration.all.map { ($0.table, try $0.remaining(in: database)) }
            }
            return StoreMigration(
                found: found.version,
                known: Schema.version,
                records: Dictionary(uniqueKeysWithValues: records.filter { $0.1 > 0 })
            )
        }
    }

    /// The form of a store that is ours.
    ///
    /// - Throws: `.corrupt`, `.newer`
    @discardableResult
    static func form(of reader: DatabaseQueue, _ path: String) throws(KeystoreError) -> SchemaVersion {
        // Each of the two is a single number, so that no transaction need hold them together.
        let found = try attempt(path) { try reader.unsafeRead(SchemaVersion.init) }
        guard found.applicationID == Schema.applicationID else {
            throw KeystoreError.corrupt(path: path, detail: "is not a store of smime")
        }
        guard found.version <= Schema.version else {
            throw KeystoreError.newer(path: path, found: found.version, known: Schema.version)
        }
        return found
    }

    /// Makes a store beside its place and moves it there, so that a half-made one is never seen. Call under `StoreLock`.
    static func create(
        _ location: StoreLocation,
        filling fill: (Database) throws -> Void
    ) throws(KeystoreError) {
        let successor = location.databaseSuccessor
        remove(successor)
        Foundation.close(try StoreFolder.createPrivate(successor))
        try attempt(location.database) { try complete(successor, filling: fill) }
        try StoreFolder(location: location).rename(successor, to: location.database)
    }

    /// Migrates an unused database to the current schema, ready to replace a store.
    static func complete(_ path: String, filling fill: (Database) throws -> Void = { _ in }) throws {
        let queue = try openWriter(path)
        try Schema.migrator.migrate(queue)
        try queue.write(fill)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        try queue.close()
    }

    /// Removes a database with all that SQLite puts beside it.
    static func remove(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Opens a database for writing, whatever is in it.
    ///
    /// - Parameter timeout: how long to wait for others, in seconds.
    static func openWriter(_ path: String, timeout: Double = StoreDatabase.timeout) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, configuration: configuration(readOnly: false, timeout: timeout))
    }

    private static func openReader(_ location: StoreLocation) throws(KeystoreError) -> DatabaseQueue {
        let isFrozen = access(location.dataFolder, W_OK) != 0 && !hasLog(location.database)
        return try attempt(location.database) {
            try openReader(location.database, isFrozen: isFrozen)
        }
    }

    /// Opens a database for reading alone.
    ///
    /// - Parameter isFrozen: whether no process can write to it. Only then SQLite can read it without creating files
    ///   beside it.
    static func openReader(_ path: String, isFrozen: Bool) throws -> DatabaseQueue {
        try DatabaseQueue(path: isFrozen ? immutablePath(path) : path, configuration: configuration(readOnly: true))
    }

    /// Whether there is a log with unmerged changes beside the database.
    static func hasLog(_ path: String) -> Bool {
        var log = stat()
        return lstat(path + "-wal", &log) == 0 && log.st_size > 0
    }

    /// A URI for SQLite (sqlite.org/uri.html).
    private static func immutablePath(_ path: String) -> String {
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%;"))
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path)?immutable=1"
    }

    private static func openPool(_ path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration(readOnly: false))
        // GRDB lowers it to NORMAL, which may lose the last commits with the power.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
    }

    private static func configuration(
        readOnly: Bool,
        timeout: Double = StoreDatabase.timeout
    ) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(timeout)
        configuration.label = "smime store"
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        guard !readOnly else {
            configuration.foreignKeysEnabled = false
            return configuration
        }
        // Deleted and resealed data must not stay in free pages.
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA synchronous = FULL")
            try $0.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }

    private static func attempt<Value>(_ path: String, _ body: () throws -> Value) throws(KeystoreError) -> Value {
        do { return try body() } catch { throw KeystoreError(error, path: path) }
    }
}

/// The schema version of a database.
struct SchemaVersion: Sendable {
    let version: Int
    let applicationID: Int

    init(_ database: Database) throws {
        version = try Int.fetchOne(database.makeStatement(sql: "PRAGMA user_version")) ?? 0
        applicationID = try Int.fetchOne(database.makeStatement(sql: "PRAGMA application_id")) ?? 0
    }
}
