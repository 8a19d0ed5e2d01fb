/// The database inside of one transaction.
///
/// It lives as long as the closure that `SQLEngine` calls with it. Statements are prepared once for each connection and kept by their
/// text, so that text should not vary: what varies are the arguments.
final class SQLDatabase {
    private let connection: any SQLConnection
    /// How many rows were inserted, changed or deleted so far.
    private(set) var changedCount = 0
    private var raisesChangeCounter = false

    init(_ connection: any SQLConnection) { self.connection = connection }

    /// The key of the row that was inserted last.
    var lastInsertedID: Int64 { connection.lastInsertedID }

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

    /// Raises the change counter if something was changed that counts. Engines call it at the end of each writing transaction.
    func finish() throws {
        guard raisesChangeCounter else { return }
        raisesChangeCounter = false
        _ = try connection.execute(ChangeCounter.raising, [])
    }
}
