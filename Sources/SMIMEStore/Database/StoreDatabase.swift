import Synchronization

/// The open database. Converts the engine's errors to `KeystoreError`.
///
/// Engines may crash if a closed connection is used, so all code uses the database through this class.
final class StoreDatabase: Sendable {
    let path: String
    private let opened: OpenEngine
    /// Whether changes are rejected.
    let isReadOnly: Bool
    private let gate: OperationGate
    /// Held while the store is being closed, so that a second call of `close` waits for the first.
    private let closing: Closing
    private let cache: StoreCache
    /// The state for handling one message; nil if each call checks the store anew.
    private let reads: MessageReads?

    private final class Closing: Sendable {
        let lock = Mutex(())
    }

    private var engine: any SQLEngine { opened.engine }

    /// - Parameters:
    ///   - isReadOnly: whether changes are rejected, even if `engine` could make them.
    ///   - reopen: opens the file at `path` like `engine`, after another file has replaced it.
    init(
        _ engine: any SQLEngine,
        path: String,
        isReadOnly: Bool,
        reopen: (@Sendable () throws -> any SQLEngine)? = nil
    ) {
        opened = OpenEngine(engine, path: path, reopen: reopen)
        self.path = path
        self.isReadOnly = isReadOnly
        (gate, closing, cache, reads) = (OperationGate(), Closing(), StoreCache(), nil)
    }

    private init(_ other: StoreDatabase, at reads: MessageReads) {
        (opened, path, isReadOnly) = (other.opened, other.path, other.isReadOnly)
        (gate, closing, cache) = (other.gate, other.closing, other.cache)
        self.reads = reads
    }

    /// A view of this database for handling one message. The reads of the view share the cache, and check only once whether
    /// the cache is still valid.
    func forOneMessage() -> StoreDatabase { StoreDatabase(self, at: MessageReads(cache)) }

    /// The number of lookups that the cache has answered (`hits`), and that needed a query (`misses`).
    var cacheUse: (hits: Int, misses: Int) { cache.use }

    /// The change counter that was read last.
    var latestChangeCount: Int64 { cache.latestNumber }

    /// Notes that another process has read the change counter `number`.
    func noteChangeCount(_ number: Int64) { cache.noteChangeCount(number) }

    /// Clears the cached values after a change.
    func emptyCache() { if let reads { reads.emptyCache() } else { cache.clear() } }

    /// The cache with the private keys that were opened before, and the change counter to which they belong; nil if opened
    /// keys are not cached.
    var openedKeys: (cache: StoreCache, number: Int64)? { reads?.number.map { (cache, $0) } }

    /// Reads one consistent state of the store, without waiting for writers.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try enter()
        defer { gate.end() }
        do {
            if reads?.number == nil, try opened.reopenIfReplaced() { cache.clear() }
            if let reads {
                return try reads.read(engine) { database in try StoreExecutor.run { try body(database) } }
            }
            return try await engine.read { database in try StoreExecutor.run { try body(database) } }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// The rows of a message's first query, together with the change counter in their first column: only one round trip.
    ///
    /// - Returns: nil if this saves nothing: for a file, after the first query, and in a database that is no view for one
    ///   message.
    func firstRows(_ sql: String, _ arguments: SQLArguments) throws(KeystoreError) -> [SQLRow]? {
        guard let reads else { return nil }
        try enter()
        defer { gate.end() }
        do { return try reads.firstRows(engine, sql, arguments: arguments) } catch {
            throw KeystoreError(error, path: path)
        }
    }

    /// Checks that this program can still use the schema version, since another process may have migrated the store.
    ///
    /// - Throws: `.newer`
    func checkSchemaVersion() throws(KeystoreError) {
        try enter()
        defer { gate.end() }
        _ = try Self.schemaVersion(of: engine, path)
    }

    /// Runs `body` in one transaction, isolated from other processes, which is committed completely or not at all.
    ///
    /// - Parameter isCache: whether `body` writes only cached data, so that the values cached in memory stay valid.
    func write<Value: Sendable>(
        isCache: Bool = false,
        _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try checkWritable()
        try enter()
        defer {
            if !isCache { emptyCache() }
            gate.end()
        }
        do {
            return try await engine.write { database in try StoreExecutor.run { try body(database) } }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// Calls `body` with the engine on this thread, which may block.
    ///
    /// - Parameter isCache: whether `body` writes only cached data, so that the values cached in memory stay valid.
    /// - Throws: `.closed`, and the errors of `body` unchanged.
    func withEngine<Value>(isCache: Bool = false, _ body: (any SQLEngine) throws -> Value) throws -> Value {
        try enter()
        defer {
            if !isCache { emptyCache() }
            gate.end()
        }
        return try body(engine)
    }

    /// Whether the database server is read-only, according to its latest answer.
    var isReadOnlyServer: Bool { engine.isReadOnlyServer }

    /// Rejects writes to a read-only store before prompting for a passphrase.
    ///
    /// - Throws: `.closed`, `.notWritable`
    func checkWritable() throws(KeystoreError) {
        guard !gate.isClosed else { throw .closed(path: path) }
        guard !isReadOnly else { throw .notWritable(path: path) }
    }

    /// Closes the files after the running calls have ended; later calls throw `.closed`.
    func close() async throws(KeystoreError) {
        await gate.drain()
        cache.clear()
        try await onBlockingThread { () throws(KeystoreError) in try self.closeUnused() }
    }

    /// Closes the files of a database that no other code uses.
    func closeUnused() throws(KeystoreError) {
        do {
            try closing.lock.withLock { _ in try engine.close() }
        } catch { throw KeystoreError(error, path: path) }
    }

    private func enter() throws(KeystoreError) {
        guard gate.begin() else { throw .closed(path: path) }
    }
}

/// Knows whether the store itself runs the current code: while the store is being opened, or in the body of a transaction.
///
/// Such code must not wait for the store, because it would wait for itself.
enum StoreExecutor {
    @TaskLocal private static var isInside = false

    /// Whether the store itself runs the code on this thread or in this task.
    static var isCurrent: Bool { isInside }

    /// Runs `body` as code of the store itself.
    static func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        try $isInside.withValue(true, operation: body)
    }
}

/// Counts the running operations on a store, so that closing the store can wait for them.
final class OperationGate: Sendable {
    private struct State {
        var isClosed = false
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Begins an operation. The caller must call `end` afterwards. Returns false if the gate is closed.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.running += 1
            return true
        }
    }

    /// Ends an operation.
    func end() {
        let waiting: [CheckedContinuation<Void, Never>] = state.withLock { state in
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Rejects new operations, and waits until the running ones have ended. Does not block a thread, because the running
    /// operations may need it.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                state.isClosed = true
                if state.running > 0 { state.waiting.append(continuation) }
                return state.running == 0
            }
            if isEmpty { continuation.resume() }
        }
    }
}
