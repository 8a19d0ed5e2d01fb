/// Runs statements within one transaction. Each engine implements this protocol.
///
/// Every error of the engine is thrown as `SQLError`.
protocol SQLConnection {
    /// Whether verdicts in the table `verdict` can be trusted: only the store's owner can write the table.
    var storesVerdicts: Bool { get }

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

    /// The damage that the engine finds in its own storage, one sentence each.
    func damagedPages() throws -> [String]

    /// The number of broken references in each table.
    func brokenReferences() throws -> [String: Int]

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
