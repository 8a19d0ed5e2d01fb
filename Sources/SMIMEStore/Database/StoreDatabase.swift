import Synchronization

/// The open database, with the engine's errors said in ours.
///
/// Engines may crash if a connection is used once it was closed, so nothing reaches one but through here.
final class StoreDatabase: Sendable {
    let path: String
    private let engine: any SQLEngine
    /// Whether changes are refused.
    let isReadOnly: Bool
    private let gate = OperationGate()
    /// Held while the store is being closed, so that a second caller waits for the first.
    private let closing = Mutex(())

    /// - Parameter isReadOnly: whether changes are refused, even if `engine` could make them.
    init(_ engine: any SQLEngine, path: String, isReadOnly: Bool) {
        self.engine = engine
        self.path = path
        self.isReadOnly = isReadOnly
    }

    /// Looks at one state of the store, and waits for no writer.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try enter()
        defer { gate.end() }
        do {
            return try await engine.read { database in try StoreExecutor.run { try body(database) } }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// One transaction that is made whole or not at all, alone among all processes.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (SQLDatabase) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try checkWritable()
        try enter()
        defer { gate.end() }
        do {
            return try await engine.write { database in try StoreExecutor.run { try body(database) } }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// Lets `body` use the database on this thread, which may block.
    ///
    /// - Throws: `.closed`, and what `body` throws, as it is.
    func withEngine<Value>(_ body: (any SQLEngine) throws -> Value) throws -> Value {
        try enter()
        defer { gate.end() }
        return try body(engine)
    }

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
        try await onBlockingThread { () throws(KeystoreError) in try self.closeUnused() }
    }

    /// Closes the files of a database that is not in use.
    func closeUnused() throws(KeystoreError) {
        do {
            try closing.withLock { _ in try engine.close() }
        } catch { throw KeystoreError(error, path: path) }
    }

    private func enter() throws(KeystoreError) {
        guard gate.begin() else { throw .closed(path: path) }
    }
}
