import GRDB
import Synchronization

/// The open database, with SQLite's errors said in ours.
///
/// GRDB crashes if a connection is used once it was closed, so nothing reaches one but through here.
final class StoreDatabase: Sendable {
    /// How long a writer waits for another one, in seconds.
    static let timeout = 10.0

    let path: String
    private let writer: any DatabaseWriter
    /// Whether changes are refused.
    let isReadOnly: Bool
    private let gate = OperationGate()
    /// Held by the one who closes.
    private let closing = Mutex(())

    /// - Parameter isReadOnly: whether changes are rejected, even if `writer` could make them.
    init(_ writer: any DatabaseWriter, path: String, isReadOnly: Bool) {
        self.writer = writer
        self.path = path
        self.isReadOnly = isReadOnly
    }

    /// Looks at one state of the store, and waits for no writer.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try enter()
        defer { gate.end() }
        do {
            return try await writer.read { database in try StoreExecutor.run { try body(database) } }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// One transaction that is made whole or not at all, alone among all processes.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try checkWritable()
        try enter()
        defer { gate.end() }
        do {
            return try await writer.write { database in try StoreExecutor.run { try body(database) } }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// Lets `body` use the database on this thread, which may block.
    ///
    /// - Throws: `.closed`, and what `body` throws, as it is.
    func withWriter<Value>(_ body: (any DatabaseWriter) throws -> Value) throws -> Value {
        try enter()
        defer { gate.end() }
        return try body(writer)
    }

    /// Rejects writes to a read-only store before prompting for a passphrase.
    ///
    /// - Throws: `.closed`, `.notWritable`
    func checkWritable() throws(KeystoreError) {
        guard !gate.isClosed else { throw .closed(path: path) }
        guard !isReadOnly else { throw .notWritable(path: path) }
    }

    /// Closes the files when all calls have ended; later calls get `.closed`.
    func close() async throws(KeystoreError) {
        await gate.drain()
        try await onBlockingThread { () throws(KeystoreError) in try self.closeUnused() }
    }

    /// Closes the files of an unused database.
    func closeUnused() throws(KeystoreError) {
        do {
            try closing.withLock { _ in
                // SQLite tidies its log away when the last connection closes, unless that one may only read.
                (writer as? DatabasePool)?.invalidateReadOnlyConnections()
                try writer.close()
            }
        } catch { throw KeystoreError(error, path: path) }
    }

    private func enter() throws(KeystoreError) {
        guard gate.begin() else { throw .closed(path: path) }
    }
}
