/// An open database: its connections, its transactions, and operations on the whole database.
///
/// Errors of the engine are thrown as `SQLError`, those of the closures unchanged. Writing transactions are serializable,
/// also across processes: SQLite runs one after the other, PostgreSQL repeats one that conflicts. Each ends with
/// `SQLDatabase.finish`, or is rolled back if its closure throws.
protocol SQLEngine: Sendable {
    /// Passes one consistent state of the database to `body`, without waiting for writers.
    func read<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value

    /// Runs `body` in a writing transaction.
    func write<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value

    /// Like `read`, but on this thread, which may block.
    func readNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value

    /// Like `write`, but on this thread, which may block.
    func writeNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value

    /// Like `readNow`, but first waits until all writing transactions have ended, including those whose process has gone and
    /// which a server may still commit.
    func readSettled<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value

    /// Reads the change counter with one statement.
    func changeCounter() throws -> Int64

    /// The rows of a reading statement, if this avoids the round trips of a transaction; otherwise nil.
    func rowsAtOnce(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow]?

    /// Whether the database server is read-only, according to its latest answer.
    var isReadOnlyServer: Bool { get }

    /// Whether the engine cannot read the current state of its file, so that the file must be opened again.
    var isOutdated: Bool { get }

    /// The schema version that is recorded in the database. The caller needs no transaction.
    func schemaVersion() throws -> SchemaVersion

    /// Runs the missing ones of `migrations`, each in its own transaction.
    func migrate(by migrations: [SQLMigration]) throws

    /// Removes overwritten data from the engine's log, if no reader needs the log. Failures are ignored.
    func truncateLog()

    /// Writes a consistent state of the database to the empty file at `path`, for a backup.
    func copy(to path: String) throws

    /// Closes all connections. None of them may be in use.
    func close() throws
}

extension SQLEngine {
    func rowsAtOnce(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow]? { nil }

    var isReadOnlyServer: Bool { false }

    var isOutdated: Bool { false }

    func readSettled<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value { try writeNow(body) }
}

/// A step from one schema version to the next.
struct SQLMigration: Sendable {
    /// The resulting schema version, which the engine records.
    let number: Int
    /// The oldest schema version whose programs can use the database afterwards.
    let serves: Int
    /// The mark that identifies the database as a store, recorded along with the version.
    let applicationID: Int
    /// The statements in SQLite's dialect. Other engines translate them.
    let statements: [String]
}

/// The schema version that is recorded in a database.
struct SchemaVersion: Sendable {
    let version: Int
    /// The oldest schema version whose programs can use the database.
    let serves: Int
    let applicationID: Int

    init(version: Int, serves: Int? = nil, applicationID: Int) {
        (self.version, self.serves, self.applicationID) = (version, serves ?? version, applicationID)
    }
}

/// A table, index, view or trigger, as a database file records it.
struct SchemaObject: Hashable, Sendable {
    /// `table`, `index`, `view` or `trigger`.
    let kind: String
    let name: String
    /// The table to which an index or trigger belongs; otherwise the object's own name.
    let table: String
    /// The statement that created the object; nil for an index that SQLite creates by itself.
    let statement: String?
}
