import Foundation

/// A database on a PostgreSQL server, accessed with libpq, for stores that several hosts share.
///
/// Readers see a snapshot (`REPEATABLE READ`). Writers are `SERIALIZABLE`: they run in parallel, and a writer that
/// conflicts with another is rolled back and run again. So the closures must have no effects outside the database.
final class PostgreSQLEngine: SQLEngine {
    /// The maximum number of attempts of a transaction. Then the store counts as busy.
    private static let maximumAttempts = 20

    private static let reading = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
    private static let writing = ["BEGIN ISOLATION LEVEL SERIALIZABLE"]
    /// Makes other writers wait before their commit until this transaction has ended, so that it is not rolled back again.
    /// The lock is taken before the snapshot, which begins with the first query.
    private static let writingAlone = writing + ["LOCK TABLE change_counter IN SHARE ROW EXCLUSIVE MODE"]

    let pool: PostgreSQLPool

    init(_ address: PostgreSQLAddress) { pool = PostgreSQLPool(address) }

    func read<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value {
        try await pool.onThread { try self.readNow(body) }
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (SQLDatabase) throws -> Value) async throws -> Value {
        try await pool.onThread { try self.writeNow(body) }
    }

    func readNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value {
        try again { _ in
            try pool.withSession { session in
                session.begin(Self.reading)
                let value = try undoing(session) { try body(SQLDatabase(PostgreSQLConnection(session))) }
                session.finishReading()
                return value
            }
        }
    }

    func writeNow<Value>(_ body: (SQLDatabase) throws -> Value) throws -> Value {
        try again { attempt in
            try pool.withSession { session in
                try transaction(session, beginning: attempt == 0 ? Self.writing : Self.writingAlone, body)
            }
        }
    }

    func changeCounter() throws -> Int64 { try ChangeCounter.value(in: rows(ChangeCounter.reading, [])) }

    func rowsAtOnce(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow]? { try rows(sql, arguments) }

    var isReadOnlyServer: Bool { pool.isReadOnly }

    private func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow] {
        try again { _ in try pool.withSession { try $0.run(sql, arguments).rows() } }
    }

    /// Does nothing: the server manages its log itself.
    func truncateLog() {}

    func copy(to path: String) throws {
        throw SQLError(.other, "a store on PostgreSQL is backed up there, with pg_dump")
    }

    func close() throws { pool.close() }

    /// Runs one writing transaction in `session`.
    func transaction<Value>(
        _ session: PostgreSQLSession,
        beginning: [String],
        _ body: (SQLDatabase) throws -> Value
    ) throws -> Value {
        session.begin(beginning)
        let value = try undoing(session) {
            let database = SQLDatabase(PostgreSQLConnection(session))
            let value = try body(database)
            try database.finish()
            return value
        }
        do { try session.commit() } catch let error as SQLError where error.kind == .disconnected {
            // The transaction may have been committed, so only the caller can decide whether to run the transaction again.
            throw SQLError(.unreachable, error.message)
        } catch {
            session.rollBack()
            throw error
        }
        return value
    }

    private func undoing<Value>(_ session: PostgreSQLSession, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            session.rollBack()
            throw error
        }
    }

    /// Runs `body`, and runs it again after a conflict or a lost connection. In both cases `body` has changed nothing.
    private func again<Value>(_ body: (_ attempt: Int) throws -> Value) throws -> Value {
        var attempt = 0
        while true {
            do { return try body(attempt) } catch let error as SQLError {
                attempt += 1
                let most = error.kind == .conflict ? Self.maximumAttempts : error.kind == .disconnected ? 2 : 0
                guard attempt < most else { throw error }
            }
            // The random pause prevents two conflicting transactions from colliding again.
            usleep(UInt32.random(in: 0...UInt32(attempt * 2000)))
        }
    }
}
