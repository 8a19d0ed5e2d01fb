import CPostgreSQL
import Foundation

/// One connection to a server. It is used by one thread at a time, to which `PostgreSQLPool` lends it.
final class PostgreSQLSession: Sendable {
    /// What is sent together, for one round trip.
    private enum Request {
        case prepare(String, PostgreSQLStatement)
        case execute(String, PostgreSQLArguments)
        case once(PostgreSQLStatement, PostgreSQLArguments)
    }

    /// The most statements that are kept prepared.
    private static let maximumStatements = 256

    /// When it was connected.
    let start = ContinuousClock.now
    private let library: PostgreSQLLibrary
    nonisolated(unsafe) private let connection: OpaquePointer
    nonisolated(unsafe) private var prepared: [PostgreSQLStatement: String] = [:]
    nonisolated(unsafe) private var nameCount = 0
    /// What begins the transaction and is sent with its first statement.
    nonisolated(unsafe) private var beginning: [String] = []
    /// Whether the answer to a COMMIT that was sent without waiting for it is still to come.
    nonisolated(unsafe) private var isAnswering = false

    /// Connects.
    ///
    /// - Throws: `SQLError` of the kind `.unreachable`
    init(_ address: PostgreSQLAddress) throws {
        library = try PostgreSQLLibrary.shared
        guard let connection = library.connection(address.options) else {
            throw SQLError(.denied, "no memory for a connection")
        }
        self.connection = connection
        // By default libpq writes them to standard error.
        _ = library.setNoticeProcessor(connection, { _, _ in }, nil)
        do {
            guard isConnected else { throw failure(nil) }
            try execute(Self.settings)
        } catch let error as SQLError { throw SQLError(.unreachable, error.message) }
    }

    deinit { library.finish(connection) }

    /// Tables of other roles in the search path could be taken for ours. A transaction waits for others as long as one of SQLite does.
    private static let settings = """
        SET search_path = smime, pg_temp; SET client_min_messages = error; SET lock_timeout = '10s';
        SET statement_timeout = '120s'; SET idle_in_transaction_session_timeout = '60s'
        """

    /// Whether the connection is there and in no transaction.
    var isIdle: Bool {
        (try? receiveRest()) != nil && beginning.isEmpty && isConnected
            && Int(library.transactionStatus(connection)) == PQTRANS_IDLE
    }

    /// Whether the server, by its last answer, takes no changes: a standby does not, nor does one that is set to read only.
    var isReadOnly: Bool {
        isOn("in_hot_standby") || isOn("default_transaction_read_only")
    }

    /// Whether the server has said that the setting `name` is on, as it does without being asked.
    private func isOn(_ name: String) -> Bool {
        library.parameterStatus(connection, name).map { String(cString: $0) } == "on"
    }

    private var isConnected: Bool { Int(library.status(connection)) == CONNECTION_OK }

    /// Runs statements without arguments, and waits for them.
    func execute(_ statements: String) throws {
        try receiveRest()
        guard let pointer = library.exec(connection, statements) else { throw failure(nil) }
        let result = PostgreSQLResult(library, takingOwnership: pointer)
        guard Self.isSuccess(result) else { throw failure(result) }
    }

    /// A name that no cursor of this connection has had.
    func newCursorName() -> String {
        nameCount += 1
        return "c\(nameCount)"
    }

    /// Begins a transaction with the next statement.
    func begin(_ statements: [String]) { beginning = statements }

    /// Makes the transaction last.
    func commit() throws {
        guard beginning.isEmpty else { return beginning = [] }
        try execute("COMMIT")
    }

    /// Ends a transaction that only read, without waiting for the answer.
    func finishReading() {
        guard beginning.isEmpty else { return beginning = [] }
        let commit = PostgreSQLStatement("COMMIT", [])
        isAnswering = library.sendQuery(connection, commit.sql, 0, nil, nil, nil, nil, 1) == 1
    }

    /// Undoes the transaction, as far as the server is there.
    func rollBack() {
        guard beginning.isEmpty else { return beginning = [] }
        try? execute("ROLLBACK")
    }

    /// Runs one statement.
    ///
    /// - Parameter keepsStatement: whether it stays prepared.
    func run(_ sql: String, _ arguments: SQLArguments, keepsStatement: Bool = true) throws -> PostgreSQLResult {
        let statement = PostgreSQLStatement(sql, arguments)
        let values = try PostgreSQLArguments(arguments)
        var requests: [Request] = try beginning.map { .once(PostgreSQLStatement($0, []), try PostgreSQLArguments([])) }
        beginning = []
        guard keepsStatement else { return try exchange(requests + [.once(statement, values)]) }
        if let name = prepared[statement] { return try exchange(requests + [.execute(name, values)]) }
        if prepared.count >= Self.maximumStatements {
            requests.append(.once(PostgreSQLStatement("DEALLOCATE ALL", []), try PostgreSQLArguments([])))
            prepared = [:]
        }
        // A number is not used twice: it may be taken even where something failed.
        nameCount += 1
        let name = "s\(nameCount)"
        return try exchange(requests + [.prepare(name, statement), .execute(name, values)])
    }

    /// Sends `requests` at once and waits for all answers.
    ///
    /// - Returns: the answer to the last one.
    /// - Throws: the first error.
    private func exchange(_ requests: [Request]) throws -> PostgreSQLResult {
        try receiveRest()
        guard library.enterPipelineMode(connection) == 1 else { throw failure(nil) }
        for request in requests { guard send(request) else { throw failure(nil) } }
        guard library.pipelineSync(connection) == 1 else { throw failure(nil) }
        var last: PostgreSQLResult?
        var first: SQLError?
        for request in requests {
            guard let pointer = library.getResult(connection) else { throw failure(nil) }
            let result = PostgreSQLResult(library, takingOwnership: pointer)
            if Self.isSuccess(result) {
                if case .prepare(let name, let statement) = request { prepared[statement] = name }
            } else if first == nil {
                first = failure(result)
            }
            last = result
            discardResults()
        }
        // The answer to the synchronization.
        discardResults()
        guard library.exitPipelineMode(connection) == 1 else { throw first ?? failure(nil) }
        if let first { throw first }
        guard let last else { throw SQLError(.other, "nothing to send") }
        return last
    }

    private func send(_ request: Request) -> Bool {
        switch request {
        case .prepare(let name, let statement):
            let count = Int32(truncatingIfNeeded: statement.types.count)
            return library.sendPrepare(connection, name, statement.text, count, statement.types) == 1
        case .execute(let name, let arguments):
            return arguments.withPointers {
                library.sendPrepared(connection, name, $0.count, $0.values, $0.lengths, $0.formats, 1) == 1
            }
        case .once(let statement, let arguments):
            return arguments.withPointers {
                let (types, values) = (statement.types, $0.values)
                return library.sendQuery(
                    connection,
                    statement.text,
                    $0.count,
                    types,
                    values,
                    $0.lengths,
                    $0.formats,
                    1
                ) == 1
            }
        }
    }

    private func receiveRest() throws {
        guard isAnswering else { return }
        discardResults()
        isAnswering = false
        guard isConnected else { throw failure(nil) }
    }

    /// Takes what is left of an answer.
    private func discardResults() {
        while let rest = library.getResult(connection) { library.clear(rest) }
    }

    private static func isSuccess(_ result: PostgreSQLResult) -> Bool {
        [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(result.status)
    }

    private func failure(_ result: PostgreSQLResult?) -> SQLError {
        let (state, message) = result?.error ?? (nil, nil)
        let own = library.errorMessage(connection).map { String(cString: $0) }
        // What a standby says of serializable transactions, and others of what they do not have.
        let isUnsupported = state == "0A000" && isReadOnly
        return SQLError(state: isUnsupported ? "25006" : state, message: message ?? own, isConnected: isConnected)
    }
}
