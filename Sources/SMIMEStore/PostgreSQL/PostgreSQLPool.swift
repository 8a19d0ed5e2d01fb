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
        let session = try state.withLock { $0.idle.popLast() } ?? connect()
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

    /// Closes the unused connections. Closes each other connection after its use.
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
                state.withLock { $0.hasConnected = true }
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
