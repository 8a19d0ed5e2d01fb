import GRDB

/// A SQLite database, accessed with GRDB.
final class SQLiteEngine: SQLEngine {
    private let writer: any DatabaseWriter
    /// Nil if the database is not a file that other processes may change.
    private let probe: ChangeProbe?

    /// - Parameter path: the database file; nil if no other process can change the database.
    init(_ writer: any DatabaseWriter, path: String? = nil) {
        self.writer = writer
        probe = path.map(ChangeProbe.init)
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value {
        do {
            return try await writer.read { try body(SQLDatabase(SQLiteConnection($0))) }
        } catch let error as DatabaseError { throw SQLError(error) }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value {
        do {
            return try await writer.write { try Self.run(body, in: $0) }
        } catch let error as DatabaseError { throw SQLError(error) }
    }

    func readNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value {
        try SQLError.translating { try writer.read { try body(SQLDatabase(SQLiteConnection($0))) } }
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
