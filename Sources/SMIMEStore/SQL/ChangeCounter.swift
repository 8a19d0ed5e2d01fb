/// A number in the database. A transaction raises the number if it changes data that other processes may have cached.
///
/// It does not if it changes nothing, or changes only dates of last use, verdicts, outages, cached answers of certificate
/// sources, or the delivery journal.
enum ChangeCounter {
    static let reading = "SELECT number FROM change_counter"
    static let raising = "UPDATE change_counter SET number = number + 1"

    /// How much the counter is raised if its previous value is unknown.
    private static let gap: Int64 = 1 << 32
    /// A larger number from another database is reduced to this limit, so that the counter never overflows.
    private static let limit: Int64 = 1 << 62

    /// The counter in this transaction.
    static func value(in database: SQLDatabase) throws -> Int64 { try value(in: database.rows(reading)) }

    /// The counter in the first column of `rows`.
    static func value(in rows: [SQLRow]) throws -> Int64 {
        guard let number = try rows.first?.first(as: Int64.self) else {
            throw SQLError(.corrupt, "the change counter is missing")
        }
        return number
    }

    /// Makes the counter greater than its current value and than `other`.
    ///
    /// - Parameter other: the counter of another database; nil if it is unknown.
    static func raise(above other: Int64?, in database: SQLDatabase) throws {
        let own = min(max(try value(in: database), 0), limit)
        let number = other.map { max(own, min($0, limit)) } ?? own + gap
        try database.execute("UPDATE change_counter SET number = ?", [number + 1], isCounted: false)
    }
}
