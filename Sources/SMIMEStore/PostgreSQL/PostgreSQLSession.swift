import CPostgreSQL
import Foundation

/// A connection to a server. `PostgreSQLPool` gives it to only one thread at a time.
final class PostgreSQLSession: Sendable {
    /// A request in a pipeline. All requests of a pipeline are sent together, in one round trip.
    private enum Request {
        case prepare(String, PostgreSQLStatement)
        case execute(String, PostgreSQLArguments)
        case once(PostgreSQLStatement, PostgreSQLArguments)
    }

    /// The maximum number of prepared statements.
    private static let maximumStatements = 256

    /// When the connection was opened.
    let start = ContinuousClock.now
    private let handle: PostgreSQLHandle
    nonisolated(unsafe) private var prepared: [PostgreSQLStatement: String] = [:]
    nonisolated(unsafe) private var nameCount = 0
    /// The statements that begin the transaction. They are sent together with the next statement.
    nonisolated(unsafe) private var beginning: [String] = []
    /// Whether a COMMIT was sent whose answer was not received yet.
    nonisolated(unsafe) private var isAnswering = false

    /// Connects to the server.
    ///
    /// - Throws: `SQLError` of the kind `.unreachable`; of the kind `.cannotOpen` if libpq is missing.
    init(_ address: PostgreSQLAddress) throws {
        handle = try PostgreSQLHandle(address.options)
        do {
            guard handle.isConnected else { throw failure(nil) }
            try execute(Self.settings)
        } catch let error as SQLError { throw SQLError(.unreachable, error.message) }
    }

    /// The search path excludes tables of other roles. The lock timeout is the same as for SQLite.
    private static let settings = """
        SET search_path = smime, pg_temp; SET client_min_messages = error; SET lock_timeout = '10s';
        SET statement_timeout = '120s'; SET idle_in_transaction_session_timeout = '60s'
        """

    /// Whether the session is connected and not in a transaction.
    var isIdle: Bool {
        (try? receiveRest()) != nil && beginning.isEmpty && handle.isConnected && handle.isOutsideTransaction
    }

    /// Whether the server is read-only according to its latest answer: it is a standby, or is configured as read-only.
    var isReadOnly: Bool {
        isOn("in_hot_standby") || isOn("default_transaction_read_only")
    }

    /// Whether the server reported that the setting `name` is on. The server reports this without a query.
    private func isOn(_ name: String) -> Bool { handle.parameter(name) == "on" }

    /// Runs statements without arguments, and waits for the answers.
    func execute(_ statements: String) throws {
        try receiveRest()
        guard let result = handle.execute(statements) else { throw failure(nil) }
        guard Self.isSuccess(result) else { throw failure(result) }
    }

    /// A cursor name that this connection has not used before.
    func newCursorName() -> String {
        nameCount += 1
        return "c\(nameCount)"
    }

    /// Makes the next statement begin a transaction.
    func begin(_ statements: [String]) { beginning = statements }

    /// Commits the transaction.
    func commit() throws {
        guard beginning.isEmpty else { return beginning = [] }
        try execute("COMMIT")
    }

    /// Ends a transaction without changes. The answer is received when the session returns to the pool.
    func finishReading() {
        guard beginning.isEmpty else { return beginning = [] }
        isAnswering = handle.send("COMMIT")
    }

    /// Rolls back the transaction, if the server can be reached.
    func rollBack() {
        guard beginning.isEmpty else { return beginning = [] }
        try? execute("ROLLBACK")
    }

    /// Runs a statement.
    ///
    /// - Parameter keepsStatement: whether the statement stays prepared for later use.
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
        // Each name is used only once: it may be in use on the server even after an error.
        nameCount += 1
        let name = "s\(nameCount)"
        return try exchange(requests + [.prepare(name, statement), .execute(name, values)])
    }

    /// Sends `requests` together and waits for all answers.
    ///
    /// - Returns: the answer to the last request.
    /// - Throws: the first error.
    private func exchange(_ requests: [Request]) throws -> PostgreSQLResult {
        try receiveRest()
        guard handle.enterPipeline() else { throw failure(nil) }
        for request in requests { guard send(request) else { throw failure(nil) } }
        guard handle.synchronizePipeline() else { throw failure(nil) }
        var last: PostgreSQLResult?
        var first: SQLError?
        for request in requests {
            guard let result = handle.nextResult() else { throw failure(nil) }
            if Self.isSuccess(result) {
                if case .prepare(let name, let statement) = request { prepared[statement] = name }
            } else if first == nil {
                first = failure(result)
            }
            last = result
            handle.discardResults()
        }
        // This discards the answer to the synchronization.
        handle.discardResults()
        guard handle.exitPipeline() else { throw first ?? failure(nil) }
        if let first { throw first }
        guard let last else { throw SQLError(.other, "nothing to send") }
        return last
    }

    private func send(_ request: Request) -> Bool {
        switch request {
        case .prepare(let name, let statement): handle.prepare(statement, as: name)
        case .execute(let name, let arguments): handle.send(prepared: name, arguments)
        case .once(let statement, let arguments): handle.send(statement, arguments)
        }
    }

    private func receiveRest() throws {
        guard isAnswering else { return }
        handle.discardResults()
        isAnswering = false
        guard handle.isConnected else { throw failure(nil) }
    }

    private static func isSuccess(_ result: PostgreSQLResult) -> Bool {
        [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(result.status)
    }

    private func failure(_ result: PostgreSQLResult?) -> SQLError {
        let (state, message) = result?.error ?? (nil, nil)
        let own = handle.errorMessage
        // A standby reports this code for serializable transactions. Other servers report it for features that they do not
        // support.
        let isUnsupported = state == "0A000" && isReadOnly
        return SQLError(
            state: isUnsupported ? "25006" : state,
            message: message ?? own,
            isConnected: handle.isConnected
        )
    }
}

/// A statement as PostgreSQL prepares it: the SQL text with PostgreSQL's placeholders, and the types of the arguments.
struct PostgreSQLStatement: Hashable {
    let sql: String
    let types: [Oid]

    init(_ sql: String, _ arguments: SQLArguments) {
        self.sql = sql
        types = arguments.values.map { value in
            switch value {
            // The server infers the type.
            case .null: 0
            case .integer: Oid(INT8OID)
            case .text: Oid(TEXTOID)
            case .blob: Oid(BYTEAOID)
            }
        }
    }

    /// The SQL text with `$1` instead of `?1`, and with the next number instead of `?`. No string in the store's statements
    /// contains a question mark.
    var text: String {
        var text = ""
        var count = 0
        var rest = Substring(sql)
        while let index = rest.firstIndex(of: "?") {
            text += rest[..<index] + "$"
            rest = rest[rest.index(after: index)...]
            if rest.first?.isNumber != true {
                count += 1
                text += "\(count)"
            }
        }
        return text + rest
    }
}

extension SQLError {
    /// - Parameters:
    ///   - state: the error code (`SQLSTATE`); nil if libpq reports the error.
    ///   - isConnected: whether the connection still exists.
    /// Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
    init(state: String?, message: String?, isConnected: Bool) {
        // libpq repeats its sentences if it tries a server more than once.
        var lines: [String] = []
        for line in (message ?? "no answer").split(whereSeparator: \.isNewline) {
            let line = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            if !lines.contains(line) { lines.append(line) }
        }
        // PostgreSQL gives the same answer for a table that is gone and for one in a schema that the role may not use.
        if state == "42P01" { lines.append("(or the database role has no USAGE on the table's schema)") }
        let text = lines.joined(separator: " ")
        self.init(isConnected ? Self.kind(state ?? "") : .disconnected, text)
    }

    private static func kind(_ state: String) -> Kind {
        switch state {
        // A concurrent transaction made the same change, such as inserting a certificate that was missing for both.
        case "40001", "40P01", "23505": .conflict
        case "55P03", "57014", "53300": .busy
        case "25006": .readOnly
        case "42501": .forbidden
        case "53200": .denied
        case "42P01", "42703", "3F000", "42883": .mismatch
        case _ where state.hasPrefix("08") || state.hasPrefix("57P"): .disconnected
        case _ where state.hasPrefix("28") || state.hasPrefix("3D"): .cannotOpen
        case _ where state.hasPrefix("53") || state.hasPrefix("58"): .writeFailed
        case _ where state.hasPrefix("XX"): .corrupt
        default: .other
        }
    }
}
