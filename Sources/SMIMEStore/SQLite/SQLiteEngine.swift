import Foundation
import GRDB

/// A SQLite database, accessed with GRDB.
final class SQLiteEngine: SQLEngine {
    private let writer: any DatabaseWriter
    /// Nil if the database is not a file that other processes may change.
    private let probe: ChangeProbe?
    /// The file if SQLite does not notice its changes; nil otherwise.
    private let frozen: FrozenFile?

    /// - Parameters:
    ///   - path: the database file; nil if the database is in memory, or `frozen`.
    ///   - frozen: the file, as it was before `writer` opened it without locks.
    init(_ writer: any DatabaseWriter, path: String? = nil, frozen: FrozenFile? = nil) {
        (self.writer, self.frozen) = (writer, frozen)
        probe = path.map(ChangeProbe.init)
    }

    var isOutdated: Bool { frozen?.isChanged ?? false }

    func read<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value {
        do {
            let value = try await writer.read { try body(SQLDatabase(SQLiteConnection($0))) }
            try checkUnchanged()
            return value
        } catch let error as DatabaseError { throw SQLError(error) }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value {
        do {
            return try await writer.write { try Self.run(body, in: $0) }
        } catch let error as DatabaseError { throw SQLError(error) }
    }

    func readNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value {
        let value = try SQLError.translating { try writer.read { try body(SQLDatabase(SQLiteConnection($0))) } }
        try checkUnchanged()
        return value
    }

    /// Requires that no process changed a frozen file while it was read: rows of two states might have been mixed.
    private func checkUnchanged() throws {
        if isOutdated { throw SQLError(.busy, "another process changed the database while it was read") }
    }

    func writeNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value {
        try SQLError.translating { try writer.write { try Self.run(body, in: $0) } }
    }

    func changeCounter() throws -> Int64 {
        try probe?.number() ?? readNow(ChangeCounter.value)
    }

    func schemaVersion() throws -> SchemaVersion {
        // Each query returns a single number, and the two numbers change only together, so no transaction is needed.
        try SQLError.translating {
            try writer.unsafeRead { database in
                SchemaVersion(
                    version: try Int.fetchOne(database.makeStatement(sql: "PRAGMA user_version")) ?? 0,
                    applicationID: try Int.fetchOne(database.makeStatement(sql: "PRAGMA application_id")) ?? 0
                )
            }
        }
    }

    func migrate(by migrations: [SQLMigration]) throws {
        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration("\(migration.number)") { database in
                for statement in migration.statements { try database.execute(sql: statement) }
                try database.execute(
                    sql: """
                        PRAGMA user_version = \(migration.number); PRAGMA application_id = \(migration.applicationID)
                        """
                )
            }
        }
        try SQLError.translating { try migrator.migrate(writer) }
    }

    func truncateLog() {
        _ = try? writer.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }

    func copy(to path: String) throws { try SQLError.translating { try writer.vacuum(into: path) } }

    func close() throws {
        try SQLError.translating {
            probe?.close()
            // SQLite removes its log when the last connection is closed, unless that connection is read-only.
            (writer as? DatabasePool)?.invalidateReadOnlyConnections()
            try writer.close()
        }
    }

    /// Switches the database to a write-ahead log, which permits readers and a writer at the same time.
    func useLog() throws {
        try SQLError.translating {
            try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        }
    }

    /// Replaces the content of `target` by that of this database, in one transaction of `target`.
    ///
    /// - Parameter didStep: called after each step that copies pages. After the first step no other connection can write to
    ///   `target`.
    func replaceContent(of target: SQLiteEngine, pagesPerStep: CInt, _ didStep: @escaping () throws -> Void) throws {
        try SQLError.translating {
            try writer.backup(to: target.writer, pagesPerStep: pagesPerStep) { _ in try didStep() }
        }
    }

    private static func run<Value>(_ body: (SQLDatabase) throws -> Value, in connection: Database) throws -> Value {
        let database = SQLDatabase(SQLiteConnection(connection))
        let value = try body(database)
        try database.finish()
        return value
    }
}

extension SQLiteEngine {
    /// How long to wait for another writer, in seconds.
    static let timeout = 10.0

    /// A new database in memory.
    static func inMemory() throws -> SQLiteEngine {
        try SQLError.translating { SQLiteEngine(try DatabaseQueue(configuration: configuration(readOnly: false))) }
    }

    /// Opens a database for concurrent readers and one writer at a time.
    static func openPool(_ path: String) throws -> SQLiteEngine {
        try SQLError.translating {
            let pool = try DatabasePool(path: path, configuration: configuration(readOnly: false))
            // GRDB sets this to NORMAL, with which a power failure may lose the last commits.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return SQLiteEngine(pool, path: path)
        }
    }

    /// Opens a database for writing, whatever its content is.
    ///
    /// - Parameter timeout: how long to wait for other writers, in seconds.
    static func openWriter(_ path: String, timeout: Double = timeout) throws -> SQLiteEngine {
        try SQLError.translating {
            SQLiteEngine(try DatabaseQueue(path: path, configuration: configuration(readOnly: false, timeout: timeout)))
        }
    }

    /// Whether there is a non-empty write-ahead log beside the database.
    static func hasLog(_ path: String) -> Bool {
        var log = stat()
        return lstat(path + "-wal", &log) == 0 && log.st_size > 0
    }

    /// Opens a database for reading only.
    ///
    /// - Parameter isFrozen: whether SQLite shall read without locks, and without creating files beside the database. If
    ///   another process then changes the file, reading fails.
    static func openReader(_ path: String, isFrozen: Bool) throws -> SQLiteEngine {
        let configuration = configuration(readOnly: true)
        return try SQLError.translating {
            guard !isFrozen else {
                let frozen = FrozenFile(path)
                let queue = try DatabaseQueue(path: immutablePath(path), configuration: configuration)
                return SQLiteEngine(queue, frozen: frozen)
            }
            return SQLiteEngine(try DatabaseQueue(path: path, configuration: configuration), path: path)
        }
    }

    /// A URI for SQLite (sqlite.org/uri.html) that opens the file at `path` as immutable.
    private static func immutablePath(_ path: String) -> String {
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%;"))
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path)?immutable=1"
    }

    private static func configuration(readOnly: Bool, timeout: Double = timeout) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(timeout)
        configuration.label = "smime store"
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        guard !readOnly else {
            configuration.foreignKeysEnabled = false
            return configuration
        }
        // Deleted data and replaced sealed keys must not stay in free pages.
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA synchronous = FULL")
            try $0.execute(sql: "PRAGMA secure_delete = ON")
        }
        return configuration
    }
}
