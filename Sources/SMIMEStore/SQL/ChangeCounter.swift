/// A number in the database. A transaction raises the number if it changes data that other processes may have cached.
///
/// A transaction leaves the number as it is if it changes nothing, or changes only dates of last use, verdicts, outages,
/// cached answers of certificate sources, or the delivery journal, or only removes expired OCSP responses.
enum ChangeCounter {
    static let reading = "SELECT number FROM change_counter"
    static let raising = "UPDATE change_counter SET number = number + 1"

    /// How much the counter is raised if its previous value is unknown.
    private static let gap: Int64 = 1 << 32
    /// The numbers that counting reaches. A number outside of them comes from a damaged or forged database.
    private static let reachable: ClosedRange<Int64> = 0...(1 << 61)

    /// The counter in this transaction.
    static func value(in database: SQLDatabase) throws -> Int64 { try value(in: database.rows(reading)) }

    /// The counter in the first column of `rows`.
    static func value(in rows: [SQLRow]) throws -> Int64 {
        guard let number = try rows.first?.first(as: Int64.self) else {
            throw SQLError(.corrupt, "the change counter is missing")
        }
        return number
    }

    /// Makes the counter greater than its current value and than `other`. If either cannot be reached by counting, the new
    /// value is random instead: any fixed one would be the same for each such database.
    ///
    /// - Parameter other: the counter of another database; nil if it is unknown.
    static func raise(above other: Int64?, in database: SQLDatabase) throws {
        let own = try value(in: database)
        let used = [own, other ?? own]
        var number: Int64
        if used.allSatisfy(reachable.contains) {
            number = (other.map { max(own, $0) } ?? own + gap) + 1
        } else {
            repeat { number = Int64.random(in: reachable) } while used.contains(number)
        }
        try database.execute("UPDATE change_counter SET number = ?", [number], isCounted: false)
    }
}
