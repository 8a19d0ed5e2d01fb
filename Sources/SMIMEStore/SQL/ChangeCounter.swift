/// A number in the database. Every transaction that changes data on which caches of other processes depend raises it.
///
/// Transactions that change nothing leave it as it is, and so do those that only change dates of last use, verdicts, outages,
/// or the journal of deliveries.
enum ChangeCounter {
    static let reading = "SELECT number FROM change_counter"
    static let raising = "UPDATE change_counter SET number = number + 1"

    /// How much the counter is raised if its former value is unknown.
    private static let gap: Int64 = 1 << 32
    /// A larger number from another database is not used, so that the counter never overflows.
    private static let limit: Int64 = 1 << 62

    /// The number as this transaction sees it.
    static func value(in database: SQLDatabase) throws -> Int64 { try value(in: database.rows(reading)) }

    /// The number in the first column of `rows`.
    static func value(in rows: [SQLRow]) throws -> Int64 {
        guard let number = try rows.first?.first(as: Int64.self) else {
            throw SQLError(.corrupt, "the change counter is missing")
        }
        return number
    }

    /// Makes the number greater than what it was and than `other`.
    ///
    /// - Parameter other: nil if it is not known, though there was one.
    static func raise(above other: Int64?, in database: SQLDatabase) throws {
        let own = min(max(try value(in: database), 0), limit)
        let number = other.map { max(own, min($0, limit)) } ?? own + gap
        try database.execute("UPDATE change_counter SET number = ?", [number + 1], isCounted: false)
    }
}
