/// Runs statements inside of one transaction. What an engine implements.
///
/// Every error of the engine is thrown as `SQLError`.
protocol SQLConnection {
    /// Whether verdicts in the table `verdict` count: only if no role but the store's owner can write it.
    var keepsVerdicts: Bool { get }

    /// Runs a statement that returns no rows. The engine keeps prepared statements by their text.
    ///
    /// - Returns: how many rows it inserted, changed or deleted, apart from those that were deleted along with them.
    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int

    /// Runs a statement that inserts one row into a table with a column `id`.
    ///
    /// - Returns: the key of the row.
    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64

    /// Continues automatic keys after the largest key in `table`, after rows were inserted with keys of their own.
    func continueKeys(of table: String) throws

    /// What is wrong with the database as the engine stores it, in sentences.
    func damagedPages() throws -> [String]

    /// How many rows of which tables refer to rows that are missing.
    func brokenReferences() throws -> [String: Int]

    /// Runs a query and passes each row to `body` until that returns false.
    ///
    /// - Parameter keepsStatement: whether the prepared statement is kept. Then `body` may not run the same query.
    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        _ body: (SQLRow) throws -> Bool
    ) throws
}
