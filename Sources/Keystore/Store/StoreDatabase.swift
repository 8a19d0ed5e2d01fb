import GRDB
import GRDBSQLite
import Synchronization

/// The open database, with SQLite's errors said in ours.
///
/// GRDB crashes if a connection is used once it was closed, so nothing reaches one but through here.
final class StoreDatabase: Sendable {
    /// How long a writer waits for another one, in seconds.
    static let patience = 10.0

    let path: String
    private let writer: any DatabaseWriter
    /// Whether changes are refused.
    let isReadOnly: Bool
    private let workplace: Store.Workplace
    private let door = StoreDoor()
    /// Held by the one who closes.
    private let closing = Mutex(())

    /// - Parameter isReadOnly: whether changes are refused, be it that `writer` could make them.
    init(_ writer: any DatabaseWriter, path: String, isReadOnly: Bool, workplace: Store.Workplace) {
        self.writer = writer
        self.path = path
        self.isReadOnly = isReadOnly
        self.workplace = workplace
    }

    /// The last one that a store on its caller's thread closed.
    private static let lastClosed = Mutex<(any DatabaseWriter)?>(nil)

    deinit {
        guard case .callersThread = workplace, (try? closeUnused()) != nil else { return }
        // To free one GRDB has Foundation look for observers, which takes longer than any query. A process that handles one
        // mail ends before that.
        Self.lastClosed.withLock { $0 = writer }
    }

    /// How much `read` looks at.
    enum Extent {
        /// What one statement selects, which sees one state of the store by itself.
        case oneStatement
        /// What several statements select in one transaction.
        case severalStatements
    }

    /// Looks at one state of the store, and waits for no writer.
    func read<Value: Sendable>(
        _ extent: Extent = .severalStatements,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try enter()
        defer { door.leave() }
        let read = { @Sendable database in try StoreExecutor.run { try body(database) } }
        do {
            switch (workplace, extent) {
            case (.ownThreads, _): return try await writer.read(read)
            case (.callersThread, .oneStatement): return try blocking { try $0.unsafeRead(read) }
            case (.callersThread, .severalStatements) where isReadOnly:
                return try blocking { try $0.unsafeRead { try $0.readingTransaction(read) } }
            case (.callersThread, .severalStatements): return try blocking { try $0.read(read) }
            }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// One transaction that is made whole or not at all, alone among all processes.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(KeystoreError) -> Value {
        try checkWritable()
        try enter()
        defer { door.leave() }
        let write = { @Sendable database in try StoreExecutor.run { try body(database) } }
        do {
            switch workplace {
            case .ownThreads: return try await writer.write(write)
            case .callersThread: return try blocking { try $0.write(write) }
            }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// Lets `body` use the database on this thread, which may block.
    ///
    /// - Throws: `.closed`, and what `body` throws, as it is.
    func withWriter<Value>(_ body: (any DatabaseWriter) throws -> Value) throws -> Value {
        try enter()
        defer { door.leave() }
        return try body(writer)
    }

    /// Refuses a change of a store that was opened for looking, before a passphrase is asked for in vain.
    ///
    /// - Throws: `.closed`, `.notWritable`
    func checkWritable() throws(KeystoreError) {
        guard !door.isShut else { throw .closed(path: path) }
        guard !isReadOnly else { throw .notWritable(path: path) }
    }

    /// Closes the files once everybody is done; who comes later gets `.closed`.
    func close() async throws(KeystoreError) {
        await door.shut()
        try await onBlockingThread { () throws(KeystoreError) in try self.closeUnused() }
    }

    /// Closes the files of a database that nobody uses.
    func closeUnused() throws(KeystoreError) {
        do {
            try closing.withLock { _ in
                // SQLite tidies its log away when the last connection closes, unless that one may only read.
                (writer as? DatabasePool)?.invalidateReadOnlyConnections()
                try writer.close()
            }
        } catch { throw KeystoreError(error, path: path) }
    }

    /// Lets `body` wait on this thread, unless the task is cancelled.
    private func blocking<Value>(_ body: (any DatabaseWriter) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        return try body(writer)
    }

    private func enter() throws(KeystoreError) {
        guard door.enter() else { throw .closed(path: path) }
    }
}

extension Database {
    /// Runs `body` in a transaction of a connection that writes nothing. The one of GRDB, which observers follow, takes longer
    /// than most queries.
    fileprivate func readingTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try command("BEGIN DEFERRED TRANSACTION")
        // There is nothing to be undone or to be lost, but the transaction must be over.
        defer { if (try? command("COMMIT TRANSACTION")) == nil { try? command("ROLLBACK TRANSACTION") } }
        return try body(self)
    }

    /// libsqlite3: `sqlite3_exec`
    func command(_ sql: String) throws {
        let code = sqlite3_exec(sqliteConnection, sql, nil, nil, nil)
        guard code == SQLITE_OK else {
            let message = String(cString: sqlite3_errmsg(sqliteConnection))
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message, sql: sql)
        }
    }
}
