import Foundation

/// A database on a PostgreSQL server, accessed with libpq, for stores that several hosts share.
///
/// Readers see a snapshot (`REPEATABLE READ`). Writers are `SERIALIZABLE`: they run in parallel, and a writer that
/// conflicts with another is rolled back and run again. So the closures must have no effects outside the database.
final class PostgreSQLEngine: SQLEngine {
    /// The maximum number of attempts of a transaction. The last conflict becomes `KeystoreError.busy`.
    private static let maximumAttempts = 20

    private static let reading = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
    private static let writing = ["BEGIN ISOLATION LEVEL SERIALIZABLE"]
    /// Makes other writers wait before their commit until this transaction has ended, so that it is not rolled back again.
    /// The lock is taken before the snapshot, which begins with the first query.
    private static let writingAlone = writing + ["LOCK TABLE change_counter IN SHARE ROW EXCLUSIVE MODE"]

    let pool: PostgreSQLPool

    init(_ address: PostgreSQLAddress) { pool = PostgreSQLPool(address) }

    func read<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value {
        try await pool.onThread { try self.readNow(body) }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value {
        try await pool.onThread { try self.writeNow(body) }
    }

    func readNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value {
        try again { _ in
            try pool.withSession { session in
                session.begin(Self.reading)
                let value = try undoing(session) { try body(SQLDatabase(PostgreSQLConnection(session))) }
                session.finishReading()
                return value
            }
        }
    }

    func writeNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value {
        try again { attempt in
            try pool.withSession { session in
                try transaction(session, beginning: attempt == 0 ? Self.writing : Self.writingAlone, body)
            }
        }
    }

    func readSettled<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value {
        try again { _ in try pool.withSession { try transaction($0, beginning: Self.writingAlone, body) } }
    }

    func changeCounter() throws -> Int64 { try ChangeCounter.value(in: rows(ChangeCounter.reading, [])) }

    func rowsAtOnce(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow]? { try rows(sql, arguments) }

    var isReadOnlyServer: Bool { pool.isReadOnly }

    private func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow] {
        try again { _ in try pool.withSession { try $0.run(sql, arguments).rows() } }
    }

    /// Does nothing: the server manages its log itself.
    func truncateLog() {}

    func copy(to path: String) throws {
        throw SQLError(.other, "a store on PostgreSQL is backed up there, with pg_dump")
    }

    func close() throws { pool.close() }

    /// Runs one writing transaction in `session`.
    func transaction<Value>(
        _ session: PostgreSQLSession,
        beginning: [String],
        _ body: (SQLDatabase) throws -> Value
    ) throws -> Value {
        session.begin(beginning)
        let value = try undoing(session) {
            let database = SQLDatabase(PostgreSQLConnection(session))
            let value = try body(database)
            try database.finish()
            return value
        }
        do { try session.commit() } catch let error as SQLError where error.kind == .disconnected {
            // The transaction may have been committed, so only the caller can decide whether to run the transaction again.
            throw SQLError(.unreachable, error.message)
        } catch {
            session.rollBack()
            throw error
        }
        return value
    }

    private func undoing<Value>(_ session: PostgreSQLSession, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            session.rollBack()
            throw error
        }
    }

    /// Runs `body`, and runs it again after a conflict or a lost connection. In both cases `body` has changed nothing.
    private func again<Value>(_ body: (_ attempt: Int) throws -> Value) throws -> Value {
        var attempt = 0
        while true {
            do { return try body(attempt) } catch let error as SQLError {
                attempt += 1
                let most = error.kind == .conflict ? Self.maximumAttempts : error.kind == .disconnected ? 2 : 0
                guard attempt < most else { throw error }
            }
            // The random pause prevents two conflicting transactions from colliding again.
            usleep(UInt32.random(in: 0...UInt32(attempt * 2000)))
        }
    }
}

extension PostgreSQLEngine {
    /// "SMIME" in ASCII: the number of the advisory lock for changing the tables, held until the end of the transaction.
    private static let lock = 0x53_4D49_4D45

    func schemaVersion() throws -> SchemaVersion {
        do {
            return try readNow { database in
                let row = try database.row("SELECT number, serves, application_id FROM store_version")
                guard let row else { throw SQLError(.corrupt, "the version is missing") }
                return SchemaVersion(
                    version: try row.value("number"),
                    serves: try row.value("serves"),
                    applicationID: try row.value("application_id")
                )
            }
        } catch let error as SQLError where error.kind == .mismatch {
            return SchemaVersion(version: 0, applicationID: 0)
        }
    }

    func migrate(by migrations: [SQLMigration]) throws { try migrate(by: migrations) { _ in } }

    /// Runs the missing migrations. Runs `fill` in the transaction that creates the first tables.
    ///
    /// - Returns: whether the tables were created.
    @discardableResult
    func migrate(by migrations: [SQLMigration], filling fill: (SQLDatabase) throws -> Void) throws -> Bool {
        var isNew = false
        for migration in migrations {
            try pool.withSession { session in
                try transaction(session, beginning: Self.changingTables) { database in
                    let found = try Self.versionCreatingTable(applicationID: migration.applicationID, in: database)
                    guard found < migration.number else { return }
                    for statement in migration.statements { try database.execute(Self.translated(statement)) }
                    let update = "UPDATE store_version SET number = ?, serves = ?"
                    try database.execute(update, [migration.number, migration.serves], isCounted: false)
                    guard found == 0 else { return }
                    isNew = true
                    for trigger in StoreRole.triggers { try database.execute(trigger, isCounted: false) }
                    try fill(database)
                }
            }
        }
        return isNew
    }

    /// Begins a transaction under the advisory lock, so that only one process at a time changes the tables. The isolation
    /// level lets the transaction see the changes of the process that had the lock before.
    private static let changingTables = [
        "BEGIN ISOLATION LEVEL READ COMMITTED", "SELECT pg_advisory_xact_lock(\(lock))",
    ]

    /// The number of the last migration. A database without a store gets the version table, with the number 0.
    private static func versionCreatingTable(applicationID: Int, in database: SQLDatabase) throws -> Int {
        let hasSchema = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = 'smime')"
        if try database.value(hasSchema, as: Bool.self) != true { try database.execute("CREATE SCHEMA smime") }
        let hasTable = "SELECT to_regclass('smime.store_version') IS NOT NULL"
        if try database.value(hasTable, as: Bool.self) != true {
            try database.execute(
                """
                CREATE TABLE store_version (
                    number BIGINT NOT NULL, serves BIGINT NOT NULL, application_id BIGINT NOT NULL)
                """
            )
            try database.execute(
                "INSERT INTO store_version (number, serves, application_id) VALUES (0, 0, ?)",
                [applicationID],
                isCounted: false
            )
        }
        return try database.value("SELECT number FROM store_version", as: Int.self) ?? 0
    }

    /// Translates a statement of the schema from SQLite's dialect to PostgreSQL's. Texts are compared byte by byte, as in
    /// SQLite.
    static func translated(_ statement: String) -> String {
        let words = [
            ("id INTEGER PRIMARY KEY,", "id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,"),
            (" INTEGER", " BIGINT"), (" BLOB", " BYTEA"), (" TEXT", " TEXT COLLATE \"C\""),
            (") STRICT, WITHOUT ROWID", ")"), (") STRICT", ")"),
        ]
        return words.reduce(statement) { $0.replacing($1.0, with: $1.1) }
    }
}
