/// The database within one transaction.
///
/// Use it only within the closure to which `SQLEngine` passes it. Each connection caches prepared statements by their text,
/// so the text should not vary: pass varying values as arguments.
final class SQLDatabase {
    /// Thrown by each query if only the cache is available.
    struct CacheMiss: Error {}

    private let connection: any SQLConnection
    /// The cache that is valid in this transaction, and the change counter of its values; nil if there is no cache.
    private let memory: (cache: StoreCache, number: Int64)?
    /// The number of rows inserted, updated or deleted so far.
    private(set) var changedCount = 0
    private var raisesChangeCounter = false

    init(_ connection: any SQLConnection) { (self.connection, memory) = (connection, nil) }

    /// Provides only cached values of the database whose change counter is `number`, without a connection.
    init(cachedIn cache: StoreCache, _ number: Int64) { (connection, memory) = (NoConnection(), (cache, number)) }

    private init(_ connection: any SQLConnection, _ memory: (StoreCache, Int64)) {
        (self.connection, self.memory) = (connection, memory)
    }

    /// This database with a cache. `number` is the database's change counter.
    func caching(in cache: StoreCache, _ number: Int64) -> SQLDatabase { SQLDatabase(connection, (cache, number)) }

    /// The value that `make` reads from the database for `arguments`. The value is cached while the change counter stays
    /// the same.
    ///
    /// - Parameters:
    ///   - cost: the approximate size of the value in bytes.
    ///   - make: must depend only on `arguments` and the database.
    func cached<Value: Sendable>(
        _ kind: CacheKey.Kind,
        _ arguments: @autoclosure () -> SQLArguments = [],
        cost: (Value) -> Int = { _ in 0 },
        make: () throws -> Value
    ) throws -> Value {
        guard let memory else { return try make() }
        let key = CacheKey(kind: kind, arguments: arguments().values)
        if let known = memory.cache.value(for: key, memory.number, as: Value.self) { return known }
        let value = try make()
        memory.cache.keep(value, for: key, memory.number, cost: cost(value))
        return value
    }

    /// Makes automatic IDs continue after the largest ID in `table`.
    func continueKeys(of table: String) throws { try connection.continueKeys(of: table) }

    /// Whether verdicts are stored in the database and read from it.
    var storesVerdicts: Bool { connection.storesVerdicts }

    /// An SQL expression for the time of the server in seconds since 1970; nil if there is no server.
    var serverTime: String? { connection.serverTime }

    /// Whether this process can write all tables. A gateway's role on a server cannot (`StoreRole`).
    func isOwner() throws -> Bool { try connection.isOwner() }

    /// A sentence for each fault that SQLite finds in its file; empty for PostgreSQL.
    func damagedPages() throws -> [String] { try connection.damagedPages() }

    /// The number of broken references in each table.
    func brokenReferences() throws -> [String: Int] { try connection.brokenReferences() }

    /// The tables, indexes, views and triggers of the database; nil on a server.
    func schemaObjects() throws -> [SchemaObject]? { try connection.schemaObjects() }

    /// All rows of a query's result.
    func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try connection.query(sql, arguments, keepsStatement: true) { row in
            rows.append(row)
            return true
        }
        return rows
    }

    /// The first row of a query's result; nil if there is none.
    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? {
        var first: SQLRow?
        try connection.query(sql, arguments, keepsStatement: true) { row in
            first = row
            return false
        }
        return first
    }

    /// The values in the first column of all rows. NULL is not permitted.
    func values<Value: SQLConvertible>(
        _ sql: String,
        _ arguments: SQLArguments = [],
        as type: Value.Type
    ) throws -> [Value] {
        var values: [Value] = []
        try connection.query(sql, arguments, keepsStatement: true) { row in
            guard let value = try row.first(as: type) else { throw SQLRow.damage(in: "the result") }
            values.append(value)
            return true
        }
        return values
    }

    /// The value in the first column of the first row; nil if there is no row, or the value is NULL.
    func value<Value: SQLConvertible>(
        _ sql: String,
        _ arguments: SQLArguments = [],
        as type: Value.Type
    ) throws -> Value? {
        try row(sql, arguments)?.first(as: type)
    }

    /// Passes the rows of a query's result to `body` one after the other, for results that are too large for memory.
    func forEach(_ sql: String, _ arguments: SQLArguments = [], body: (SQLRow) throws -> Void) throws {
        try connection.query(sql, arguments, keepsStatement: false) { row in
            try body(row)
            return true
        }
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Parameter isCounted: whether the transaction raises the change counter if a row was changed. False for data that
    ///   other processes do not cache: dates of last use, and cached data.
    /// - Returns: the number of inserted, updated or deleted rows. Rows deleted by cascading are not counted.
    @discardableResult
    func execute(_ sql: String, _ arguments: SQLArguments = [], isCounted: Bool = true) throws -> Int {
        let count = try connection.execute(sql, arguments)
        changedCount += count
        if isCounted, count > 0 { raisesChangeCounter = true }
        return count
    }

    /// Inserts a row into a table with a column `id`. The transaction then raises the change counter.
    ///
    /// - Returns: the ID of the row.
    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        let id = try connection.insert(sql, arguments)
        changedCount += 1
        raisesChangeCounter = true
        return id
    }

    /// Raises the change counter if a counted change was made. Engines call this at the end of each writing transaction.
    func finish() throws {
        guard raisesChangeCounter else { return }
        raisesChangeCounter = false
        _ = try connection.execute(ChangeCounter.raising, [])
    }
}

/// Replaces the connection if only the cache is used.
private struct NoConnection: SQLConnection {
    let storesVerdicts = false
    let serverTime: String? = nil

    func isOwner() throws -> Bool { throw SQLDatabase.CacheMiss() }

    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int { throw SQLDatabase.CacheMiss() }

    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 { throw SQLDatabase.CacheMiss() }

    func continueKeys(of table: String) throws { throw SQLDatabase.CacheMiss() }

    func damagedPages() throws -> [String] { throw SQLDatabase.CacheMiss() }

    func brokenReferences() throws -> [String: Int] { throw SQLDatabase.CacheMiss() }

    func schemaObjects() throws -> [SchemaObject]? { throw SQLDatabase.CacheMiss() }

    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        body: (SQLRow) throws -> Bool
    ) throws { throw SQLDatabase.CacheMiss() }
}

/// Runs statements within one transaction. Each engine implements this protocol.
///
/// Every error of the engine is thrown as `SQLError`.
protocol SQLConnection {
    /// Whether verdicts in the table `verdict` can be trusted: only the store's owner can write the table.
    var storesVerdicts: Bool { get }

    /// An SQL expression for the time of the server in seconds since 1970; nil if there is no server.
    var serverTime: String? { get }

    /// Whether the role of this connection owns the tables. Other roles cannot decide about certificates.
    func isOwner() throws -> Bool

    /// Runs a statement that returns no rows. The engine caches prepared statements by their text.
    ///
    /// - Returns: the number of inserted, updated or deleted rows. Rows deleted by cascading are not counted.
    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int

    /// Runs a statement that inserts one row into a table with a column `id`.
    ///
    /// - Returns: the ID of the row.
    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64

    /// Makes automatic IDs continue after the largest ID in `table`, after rows with explicit IDs were inserted.
    func continueKeys(of table: String) throws

    /// A sentence for each fault that SQLite finds in its file; empty for PostgreSQL.
    func damagedPages() throws -> [String]

    /// The number of broken references in each table.
    func brokenReferences() throws -> [String: Int]

    /// The tables, indexes, views and triggers of the database; nil on a server, where only the owner of the tables can add
    /// some.
    func schemaObjects() throws -> [SchemaObject]?

    /// Runs a query and passes each row to `body` until `body` returns false.
    ///
    /// - Parameter keepsStatement: whether the prepared statement is cached. If it is, `body` must not run the same query.
    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        body: (SQLRow) throws -> Bool
    ) throws
}
