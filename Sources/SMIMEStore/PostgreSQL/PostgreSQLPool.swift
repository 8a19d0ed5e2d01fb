import Foundation
import Synchronization

/// The connections of this process to a database: as many as are used at the same time, up to a maximum.
final class PostgreSQLPool: Sendable {
    /// The maximum number of connections of this process.
    static let capacity = 8
    /// How long to wait for a free connection, and for a server that is starting, in seconds.
    static let timeout = 10.0

    /// How long a connection to a read-only server is reused: another server may become the primary meanwhile.
    static let readOnlyTime = Duration.seconds(5)

    private struct State {
        var isReadOnly = false
        var idle: [PostgreSQLSession] = []
        var hasConnected = false
        var isClosed = false
    }

    private let address: PostgreSQLAddress
    private let state = Mutex(State())
    private let places = DispatchSemaphore(value: capacity)
    /// The threads for the calls of tasks: waiting for a server must not block Swift's cooperative threads.
    private let threads: OperationQueue

    init(_ address: PostgreSQLAddress) {
        self.address = address
        threads = OperationQueue()
        threads.name = "smime store"
        threads.maxConcurrentOperationCount = Self.capacity
    }

    /// Whether the server is read-only, according to its latest answer.
    var isReadOnly: Bool { state.withLock { $0.isReadOnly } }

    /// Runs `body` on a thread that may block.
    func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            threads.addOperation { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs `body` with a connection that no other call uses at the same time. Blocks the thread.
    ///
    /// - Throws: `SQLError` of the kinds `.busy`, `.disconnected` and `.unreachable`; what `body` throws.
    func withSession<Value>(_ body: (PostgreSQLSession) throws -> Value) throws -> Value {
        guard places.wait(timeout: .now() + Self.timeout) == .success else {
            throw SQLError(.busy, "all connections are in use")
        }
        defer { places.signal() }
        let session = try idleSession() ?? connect()
        do {
            let value = try body(session)
            keep(session)
            return value
        } catch {
            if (error as? SQLError)?.kind == .disconnected {
                // The other connections were usually lost, too.
                forget()
            } else {
                keep(session)
            }
            throw error
        }
    }

    /// A connection that is not used now; nil if there is none. Connections to a read-only server that are too old are closed.
    private func idleSession() -> PostgreSQLSession? {
        while let session = state.withLock({ $0.idle.popLast() }) {
            if !session.isReadOnly || ContinuousClock.now - session.start < Self.readOnlyTime { return session }
        }
        return nil
    }

    /// Closes the unused connections now, and each connection in use after its use.
    func close() {
        state.withLock { $0.isClosed = true }
        forget()
    }

    /// Opens a connection. If the server could be reached before, waits for it: the server may be restarting, or be
    /// replaced by another one.
    private func connect() throws -> PostgreSQLSession {
        let deadline = Date.now.addingTimeInterval(Self.timeout)
        var pause: UInt32 = 50_000
        while true {
            do {
                let session = try PostgreSQLSession(address)
                state.withLock { ($0.hasConnected, $0.isReadOnly) = (true, session.isReadOnly) }
                return session
            } catch let error as SQLError {
                let waits = state.withLock { $0.hasConnected && !$0.isClosed }
                guard error.kind == .unreachable, waits, Date.now < deadline else { throw error }
            }
            usleep(pause)
            pause = min(2 * pause, 1_000_000)
        }
    }

    private func keep(_ session: PostgreSQLSession) {
        // A session that is in a transaction or not connected is closed by its deinitializer.
        guard session.isIdle else { return }
        let isReadOnly = session.isReadOnly
        state.withLock { $0.isReadOnly = isReadOnly }
        guard !isReadOnly || ContinuousClock.now - session.start < Self.readOnlyTime else { return }
        state.withLock { if !$0.isClosed { $0.idle.append(session) } }
    }

    private func forget() {
        let sessions = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        _ = sessions
    }
}

/// A session with a server, within one transaction.
struct PostgreSQLConnection: SQLConnection {
    /// The number of rows to fetch at a time from a large result.
    private static let step = 500

    /// False because other hosts and roles also write the database.
    let storesVerdicts = false

    let serverTime: String? = "extract(epoch FROM now())::bigint"

    private let session: PostgreSQLSession

    init(_ session: PostgreSQLSession) { self.session = session }

    func isOwner() throws -> Bool {
        let owner = "SELECT relowner FROM pg_class WHERE oid = 'smime.certificate'::regclass"
        let rows = try session.run("SELECT pg_has_role(current_user, (\(owner)), 'USAGE')", []).rows()
        return try rows.first?.first(as: Bool.self) ?? false
    }

    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try session.run(sql, arguments).changedCount
    }

    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        try session.run(sql + " RETURNING id", arguments).insertedID()
    }

    func continueKeys(of table: String) throws {
        let sequence = "pg_get_serial_sequence('smime.\(table)', 'id')"
        _ = try session.run("SELECT setval(\(sequence), max(id)) FROM \(table)", [], keepsStatement: false)
    }

    /// Always empty: the server checks its pages itself if its administrator has enabled this (`data_checksums`).
    func damagedPages() throws -> [String] { [] }

    /// Always empty: the server enforces references.
    func brokenReferences() throws -> [String: Int] { [:] }

    func schemaObjects() throws -> [SchemaObject]? { nil }

    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        body: (SQLRow) throws -> Bool
    ) throws {
        guard !keepsStatement else {
            _ = try session.run(sql, arguments).forEach(body)
            return
        }
        let name = session.newCursorName()
        _ = try session.run("DECLARE \(name) NO SCROLL BINARY CURSOR FOR \(sql)", arguments, keepsStatement: false)
        while true {
            let rows = try session.run("FETCH \(Self.step) FROM \(name)", [], keepsStatement: false)
            guard !rows.isEmpty, try rows.forEach(body) else { break }
        }
        _ = try session.run("CLOSE \(name)", [], keepsStatement: false)
    }
}
