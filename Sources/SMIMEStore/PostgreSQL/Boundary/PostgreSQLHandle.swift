import CPostgreSQL

/// A connection of libpq. Only one thread at a time may use it.
///
/// Requests that return a Boolean return whether libpq accepted them; otherwise `errorMessage` says why.
final class PostgreSQLHandle: Sendable {
    private let library: PostgreSQLLibrary
    nonisolated(unsafe) private let connection: OpaquePointer

    /// Connects to the server. `isConnected` says whether that succeeded.
    ///
    /// - Throws: `SQLError` if libpq is missing or memory is exhausted.
    init(_ options: [String: String]) throws {
        library = try PostgreSQLLibrary.shared
        guard let connection = library.connection(options) else {
            throw SQLError(.denied, "no memory for a connection")
        }
        self.connection = connection
        // By default libpq writes the server's notices to standard error.
        _ = library.setNoticeProcessor(connection, { _, _ in }, nil)
    }

    deinit { library.finish(connection) }

    var isConnected: Bool { Int(library.status(connection)) == CONNECTION_OK }

    var isOutsideTransaction: Bool { Int(library.transactionStatus(connection)) == PQTRANS_IDLE }

    /// The message of the latest error.
    var errorMessage: String? { library.errorMessage(connection).map { String(cString: $0) } }

    /// The value of the setting `name` that the server reported without a query; nil if it reported none.
    func parameter(_ name: String) -> String? {
        library.parameterStatus(connection, name).map { String(cString: $0) }
    }

    /// The answer to statements without arguments; nil if they could not be sent.
    func execute(_ statements: String) -> PostgreSQLResult? {
        library.exec(connection, statements).map { PostgreSQLResult(library, takingOwnership: $0) }
    }

    /// The next answer; nil after the last answer to a request.
    func nextResult() -> PostgreSQLResult? {
        library.getResult(connection).map { PostgreSQLResult(library, takingOwnership: $0) }
    }

    /// Discards the rest of an answer.
    func discardResults() {
        while let rest = library.getResult(connection) { library.clear(rest) }
    }

    func enterPipeline() -> Bool { library.enterPipelineMode(connection) == 1 }

    func synchronizePipeline() -> Bool { library.pipelineSync(connection) == 1 }

    func exitPipeline() -> Bool { library.exitPipelineMode(connection) == 1 }

    /// Sends `statement`, to be prepared with the name `name`.
    func prepare(_ statement: PostgreSQLStatement, as name: String) -> Bool {
        let count = Int32(truncatingIfNeeded: statement.types.count)
        return library.sendPrepare(connection, name, statement.text, count, statement.types) == 1
    }

    /// Sends the arguments for the prepared statement `name`.
    func send(prepared name: String, _ arguments: PostgreSQLArguments) -> Bool {
        arguments.withPointers {
            library.sendPrepared(connection, name, $0.count, $0.values, $0.lengths, $0.formats, 1) == 1
        }
    }

    /// Sends a statement that is not prepared.
    func send(_ statement: PostgreSQLStatement, _ arguments: PostgreSQLArguments) -> Bool {
        arguments.withPointers {
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

    /// Sends a statement without arguments.
    func send(_ sql: String) -> Bool { library.sendQuery(connection, sql, 0, nil, nil, nil, nil, 1) == 1 }
}
