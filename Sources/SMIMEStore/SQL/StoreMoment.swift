import Synchronization

/// The store during one message: the first query checks whether the cache is valid.
///
/// If all values are in the cache, nothing else is read from the database. Other values are read as they are then, and if the counter has
/// changed meanwhile, the rest of the message sees the newer store.
final class StoreMoment: Sendable {
    let cache: StoreCache
    private let seen = Mutex<Int64?>(nil)

    init(_ cache: StoreCache) { self.cache = cache }

    /// The change counter as this message sees it; nil before its first query, and after a change by this process.
    var number: Int64? { seen.withLock { $0 } }

    /// What `body` takes out of the cache, else out of `engine`, on this thread. Readers wait for no writer.
    func read<Value>(_ engine: any SQLEngine, _ body: (SQLDatabase) throws -> Value) throws -> Value {
        let number = try self.number ?? note(engine.changeCounter())
        do { return try body(SQLDatabase(remembering: cache, number)) } catch is SQLDatabase.NotRemembered {}
        return try engine.readNow { database in
            let number = note(try ChangeCounter.value(in: database))
            return try body(database.remembering(in: cache, number))
        }
    }

    /// The rows of the first query, which has the change counter in its first column, by one round trip.
    ///
    /// - Returns: nil where that saves nothing.
    func firstRows(_ engine: any SQLEngine, _ sql: String, arguments: SQLArguments) throws -> [SQLRow]? {
        guard number == nil, let rows = try engine.rowsAtOnce(sql, arguments) else { return nil }
        note(try ChangeCounter.value(in: rows))
        return rows
    }

    /// Forgets everything, because this process has changed something.
    func noteChange() {
        seen.withLock { $0 = nil }
        cache.clear()
    }

    @discardableResult
    private func note(_ number: Int64) -> Int64 {
        seen.withLock { $0 = number }
        cache.enter(number)
        return number
    }
}
