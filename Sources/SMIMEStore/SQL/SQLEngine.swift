/// An open database: connections, transactions, and what is done to the whole of it.
///
/// Errors of the engine are thrown as `SQLError`, those of the closures as they are. Writing transactions follow each other, also
/// across processes; each ends with `SQLDatabase.finish`, or is undone if its closure throws.
protocol SQLEngine: Sendable {
    /// Lets `body` read one state, without waiting for writers.
    func read<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value

    /// One writing transaction.
    func write<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value

    /// The same as `read`, on this thread, which may block.
    func readNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value

    /// The same as `write`, on this thread, which may block.
    func writeNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value

    /// The change counter, by one statement.
    func changeCounter() throws -> Int64

    /// The rows of one statement that reads, where that saves the round trips of a transaction; nil where it saves nothing.
    func rowsAtOnce(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow]?

    /// Whether the server that holds the database takes no changes, by its last answer.
    var isReadOnlyServer: Bool { get }

    /// What the database says it is. No transaction is needed for that.
    func schemaVersion() throws -> SchemaVersion

    /// Runs those of `migrations` that were not run yet, each in a transaction of its own.
    func migrate(by migrations: [SQLMigration]) throws

    /// Removes overwritten data from the engine's log, if no reader needs it. Failures do not matter.
    func truncateLog()

    /// Writes everything as it is at one moment to the empty file at `path`, for a backup.
    func copy(to path: String) throws

    /// Closes all connections, none of which may be in use.
    func close() throws
}

extension SQLEngine {
    func rowsAtOnce(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow]? { nil }

    var isReadOnlyServer: Bool { false }
}

/// A step from one form of a database to the next.
struct SQLMigration: Sendable {
    /// The form that it leads to, which the engine writes down.
    let number: Int
    /// The oldest form whose programs can use the database afterwards.
    let serves: Int
    /// Written down with it: what makes a database a store.
    let applicationID: Int
    /// In SQLite's dialect. Another engine translates what differs in its own.
    let statements: [String]
}

/// What a database says it is.
struct SchemaVersion: Sendable {
    let version: Int
    /// The oldest form whose programs can use it.
    let serves: Int
    let applicationID: Int

    init(version: Int, serves: Int? = nil, applicationID: Int) {
        (self.version, self.serves, self.applicationID) = (version, serves ?? version, applicationID)
    }
}
