/// The database inside of one transaction.
///
/// It lives as long as the closure that `SQLEngine` calls with it. Statements are prepared once for each connection and kept by their
/// text, so that text should not vary: what varies are the arguments.
final class SQLDatabase {
    /// Thrown by any access to a database that is no more than its cache.
    struct NotRemembered: Error {}

    private let connection: any SQLConnection
    /// The values remembered of the database as it is in this transaction, and its change counter; nil if none are.
    private let memory: (cache: StoreCache, number: Int64)?
    /// How many rows were inserted, changed or deleted so far.
    private(set) var changedCount = 0
    private var raisesChangeCounter = false

    init(_ connection: any SQLConnection) { (self.connection, memory) = (connection, nil) }

    /// No database, only what is remembered of the one whose change counter is `number`.
    init(remembering cache: StoreCache, _ number: Int64) { (connection, memory) = (NoConnection(), (cache, number)) }

    private init(_ connection: any SQLConnection, _ memory: (StoreCache, Int64)) {
        (self.connection, self.memory) = (connection, memory)
    }

    /// The same, with what is remembered of it; its change counter is `number`.
    func remembering(in cache: StoreCache, _ number: Int64) -> SQLDatabase { SQLDatabase(connection, (cache, number)) }

    /// The value that `make` reads from the database for `arguments`, or a remembered one, as long as the change counter stays the same.
    ///
    /// - Parameters:
    ///   - cost: how many bytes the value holds, roughly.
    ///   - make: depends on `arguments` and the database alone.
    func remembered<Value: Sendable>(
        _ kind: CacheKey.Kind,
        _ arguments: @autoclosure () -> SQLArguments = [],
        cost: (Value) -> Int = { _ in 0 },
        _ make: () throws -> Value
    ) throws -> Value {
        guard let memory else { return try make() }
        let key = CacheKey(kind: kind, arguments: arguments().values)
        if let known = memory.cache.value(for: key, memory.number, as: Value.self) { return known }
        let value = try make()
        memory.cache.keep(value, for: key, memory.number, cost: cost(value))
        return value
    }

    /// Continues automatic keys after the largest key in `table`.
    func continueKeys(of table: String) throws { try connection.continueKeys(of: table) }

    /// Whether verdicts are kept in the database and read from it.
    var keepsVerdicts: Bool { connection.keepsVerdicts }

    /// What is wrong with the database as the engine stores it, in sentences.
    func damagedPages() throws -> [String] { try connection.damagedPages() }

    /// How many rows of which tables refer to rows that are missing.
    func brokenReferences() throws -> [String: Int] { try connection.brokenReferences() }

    /// All rows of a query.
    func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try connection.query(sql, arguments, keepsStatement: true) { row in
            rows.append(row)
            return true
        }
        return rows
    }

    /// The first row of a query; nil if there is none.
    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? {
        var first: SQLRow?
        try connection.query(sql, arguments, keepsStatement: true) { row in
            first = row
            return false
        }
        return first
    }

    /// The first column of all rows, in which no value may be NULL.
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

    /// The first column of the first row; nil if there is no row, or the value is NULL.
    func value<Value: SQLConvertible>(
        _ sql: String,
        _ arguments: SQLArguments = [],
        as type: Value.Type
    ) throws -> Value? {
        try row(sql, arguments)?.first(as: type)
    }

    /// Passes the rows of a query to `body` one after the other, for results that are too large to be held.
    func forEach(_ sql: String, _ arguments: SQLArguments = [], _ body: (SQLRow) throws -> Void) throws {
        try connection.query(sql, arguments, keepsStatement: false) { row in
            try body(row)
            return true
        }
    }

    /// Runs a statement that returns no rows.
    ///
    /// - Parameter isCounted: whether the transaction raises the change counter if a row was changed. False for what no
    ///   cache of another process depends on: dates of last use, and what is itself a cache.
    /// - Returns: how many rows it inserted, changed or deleted, apart from those that were deleted along with them.
    @discardableResult
    func execute(_ sql: String, _ arguments: SQLArguments = [], isCounted: Bool = true) throws -> Int {
        let count = try connection.execute(sql, arguments)
        changedCount += count
        if isCounted, count > 0 { raisesChangeCounter = true }
        return count
    }

    /// Inserts one row, which counts as a change, into a table with a column `id`.
    ///
    /// - Returns: the key of the row.
    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        let id = try connection.insert(sql, arguments)
        changedCount += 1
        raisesChangeCounter = true
        return id
    }

    /// Raises the change counter if something was changed that counts. Engines call it at the end of each writing transaction.
    func finish() throws {
        guard raisesChangeCounter else { return }
        raisesChangeCounter = false
        _ = try connection.execute(ChangeCounter.raising, [])
    }
}

/// What stands for the connection where only the cache is asked.
private struct NoConnection: SQLConnection {
    let keepsVerdicts = false

    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int { throw SQLDatabase.NotRemembered() }

    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 { throw SQLDatabase.NotRemembered() }

    func continueKeys(of table: String) throws { throw SQLDatabase.NotRemembered() }

    func damagedPages() throws -> [String] { throw SQLDatabase.NotRemembered() }

    func brokenReferences() throws -> [String: Int] { throw SQLDatabase.NotRemembered() }

    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        _ body: (SQLRow) throws -> Bool
    ) throws { throw SQLDatabase.NotRemembered() }
}
