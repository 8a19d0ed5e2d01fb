import Synchronization

/// The view of the store for handling one message. The first query checks whether the cache is valid.
///
/// If all values are in the cache, nothing else is read from the database. Other values are read when they are needed. If
/// the change counter has changed by then, the rest of the message uses the newer state of the store.
final class MessageReads: Sendable {
    let cache: StoreCache
    private let seen = Mutex<Int64?>(nil)

    init(_ cache: StoreCache) { self.cache = cache }

    /// The change counter for this message; nil before the message's first query, and after a change by this process.
    var number: Int64? { seen.withLock { $0 } }

    /// Runs `body` with the cache. If a value is missing there, runs `body` again with `engine`, on this thread. Readers do
    /// not wait for writers.
    func read<Value>(_ engine: any SQLEngine, _ body: (SQLDatabase) throws -> Value) throws -> Value {
        let number = try self.number ?? note(engine.changeCounter())
        do { return try body(SQLDatabase(remembering: cache, number)) } catch is SQLDatabase.CacheMiss {}
        return try engine.readNow { database in
            let number = note(try ChangeCounter.value(in: database))
            return try body(database.remembering(in: cache, number))
        }
    }

    /// The rows of the message's first query, with the change counter in the first column, read in one round trip.
    ///
    /// - Returns: nil if this saves nothing.
    func firstRows(_ engine: any SQLEngine, _ sql: String, arguments: SQLArguments) throws -> [SQLRow]? {
        guard number == nil, let rows = try engine.rowsAtOnce(sql, arguments) else { return nil }
        note(try ChangeCounter.value(in: rows))
        return rows
    }

    /// Empties the cache, because this process has changed the store.
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
