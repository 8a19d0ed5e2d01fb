import Synchronization

/// The open database. It turns the engine's errors into `KeystoreError`.
///
/// Engines may crash if a closed connection is used, so all access goes through this class.
final class StoreDatabase: Sendable {
    let path: String
    private let opened: OpenEngine
    /// Whether changes are refused.
    let isReadOnly: Bool
    private let gate: OperationGate
    /// Held while the store is being closed, so that a second caller waits for the first.
    private let closing: Closing
    private let cache: StoreCache
    /// The state for one message; nil if each call reads anew.
    private let moment: StoreMoment?

    private final class Closing: Sendable {
        let lock = Mutex(())
    }

    private var engine: any SQLEngine { opened.engine }

    /// - Parameters:
    ///   - isReadOnly: whether changes are refused, even if `engine` could make them.
    ///   - reopen: opens the file at `path` as `engine` did, once another file lies there.
    init(
        _ engine: any SQLEngine,
        path: String,
        isReadOnly: Bool,
        reopen: (@Sendable () throws -> any SQLEngine)? = nil
    ) {
        opened = OpenEngine(engine, path: path, reopen: reopen)
        self.path = path
        self.isReadOnly = isReadOnly
        (gate, closing, cache, moment) = (OperationGate(), Closing(), StoreCache(), nil)
    }

    private init(_ other: StoreDatabase, at moment: StoreMoment) {
        (opened, path, isReadOnly) = (other.opened, other.path, other.isReadOnly)
        (gate, closing, cache) = (other.gate, other.closing, other.cache)
        self.moment = moment
    }

    /// The same database for one message: its reads share the cache, whose validity is checked once.
    func atOneMoment() -> StoreDatabase { StoreDatabase(self, at: StoreMoment(cache)) }

    /// How many look-ups the cache has answered, and how many it has not.
    var cacheUse: (hits: Int, misses: Int) { cache.use }

    /// Forgets what is remembered.
    func noteChange() { if let moment { moment.noteChange() } else { cache.clear() } }

    /// The keys that were opened before, and the change counter they belong to; nil where none are kept.
    var openedKeys: (cache: StoreCache, number: Int64)? { moment?.number.map { (cache, $0) } }

    /// Looks at one state of the store, and waits for no writer.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try enter()
        defer { gate.end() }
        do {
            if let moment {
                if moment.number == nil, try opened.renew() { cache.clear() }
                return try moment.read(engine) { database in try StoreExecutor.run { try body(database) } }
            }
            return try await engine.read { database in try StoreExecutor.run { try body(database) } }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// The rows of the first query of a message, whose first column is the change counter, in a single round trip.
    ///
    /// - Returns: nil where that saves nothing: for a file, and after the first query.
    func firstRows(_ sql: String, _ arguments: SQLArguments) throws(KeystoreError) -> [SQLRow]? {
        guard let moment else { return nil }
        try enter()
        defer { gate.end() }
        do { return try moment.firstRows(engine, sql, arguments: arguments) } catch {
            throw KeystoreError(error, path: path)
        }
    }

    /// Checks that this program can still use the store's form, since another process may have migrated the store.
    ///
    /// - Throws: `.newer`
    func checkForm() throws(KeystoreError) {
        try enter()
        defer { gate.end() }
        _ = try Self.form(of: engine, path)
    }

    /// Runs `body` in one transaction, which no other process shares and which is committed whole or not at all.
    ///
    /// - Parameter isCache: whether `body` writes only cached data, so that remembered values stay valid.
    func write<Value: Sendable>(
        isCache: Bool = false,
        _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try checkWritable()
        try enter()
        defer {
            if !isCache { noteChange() }
            gate.end()
        }
        do {
            return try await engine.write { database in try StoreExecutor.run { try body(database) } }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// Lets `body` use the database on this thread, which may block.
    ///
    /// - Parameter isCache: whether `body` writes only cached data, so that remembered values stay valid.
    /// - Throws: `.closed`, and what `body` throws, as it is.
    func withEngine<Value>(isCache: Bool = false, _ body: (any SQLEngine) throws -> Value) throws -> Value {
        try enter()
        defer {
            if !isCache { noteChange() }
            gate.end()
        }
        return try body(engine)
    }

    /// Whether the server that holds the database takes no changes, by its last answer.
    var isReadOnlyServer: Bool { engine.isReadOnlyServer }

    /// Rejects writes to a read-only store before a passphrase is asked for.
    ///
    /// - Throws: `.closed`, `.notWritable`
    func checkWritable() throws(KeystoreError) {
        guard !gate.isClosed else { throw .closed(path: path) }
        guard !isReadOnly else { throw .notWritable(path: path) }
    }

    /// Closes the files after the calls that are under way; later calls throw `.closed`.
    func close() async throws(KeystoreError) {
        await gate.drain()
        cache.clear()
        try await onBlockingThread { () throws(KeystoreError) in try self.closeUnused() }
    }

    /// Closes the files of a database that is not in use.
    func closeUnused() throws(KeystoreError) {
        do {
            try closing.lock.withLock { _ in try engine.close() }
        } catch { throw KeystoreError(error, path: path) }
    }

    private func enter() throws(KeystoreError) {
        guard gate.begin() else { throw .closed(path: path) }
    }
}
