import Foundation
import GRDB
import InternetMessage
import PKIX
import SMIME
import SMIMEStore
import Synchronization
import TestSupport

/// A home for one test, removed with this object.
final class TemporaryHome {
    let path: String
    let location: StoreLocation
    private let temporary: TemporaryFolder
    /// The database server and the name of the database; nil for SQLite.
    let database: (server: PostgreSQLServer, name: String)?

    /// A store on the engine chosen for the tests.
    convenience init() throws {
        try self.init(on: StoreEngine.isPostgreSQL ? PostgreSQLServer.shared.get() : nil)
    }

    /// - Parameter options: connection options, such as `&target_session_attrs=any`.
    init(on server: PostgreSQLServer?, options: String = "") throws {
        temporary = try TemporaryFolder()
        path = temporary.file("store").path
        let home = StoreLocation(home: path)
        guard let server else {
            (location, database) = (home, nil)
            return
        }
        let name = try server.makeDatabase()
        (location, database) = (home.on(try PostgreSQLAddress(server.url(name) + options)), (server, name))
    }

    deinit { database.map { $0.server.dropDatabase($0.name) } }

    /// Creates the store on a server, where opening does not create it.
    func prepare() async throws { if database != nil { _ = try await Store.create(location) } }

    /// Opens the store. If there is none and the mode allows it, the store is created.
    func open(_ mode: Store.Mode = .readWrite) async throws -> Store {
        if mode == .readWrite { try await prepare() }
        return try await Store.open(location, mode: mode)
    }

    /// The number returned by a query that bypasses the store.
    func number(_ sql: String) async throws -> Int {
        if let database { return Int(try database.server.run(sql, in: database.name)) ?? 0 }
        return try await query { try Int.fetchOne($0, sql: sql) } ?? 0
    }

    /// Reads the SQLite database directly, bypassing the store.
    func query<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let queue = try DatabaseQueue(path: location.database)
        let value = try await queue.read(body)
        try queue.close()
        return value
    }

    /// Changes the database directly, bypassing the store and its foreign keys.
    func change(_ sql: String) async throws {
        if let database {
            let sql = sql.replacing(/x'([0-9a-f]+)'/) { "'\\x\($0.1)'::bytea" }
            _ = try database.server.run(sql, in: database.name)
            return
        }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: location.database, configuration: configuration)
        try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// The permissions of a file below the home, in octal.
    func mode(_ name: String) throws -> String {
        var status = stat()
        guard lstat("\(path)/\(name)", &status) == 0 else { throw CocoaError(.fileNoSuchFile) }
        return String(status.st_mode & 0o7777, radix: 8)
    }
}

/// A value that several threads can change.
final class Locked<Value: Sendable>: Sendable {
    private let lock: Mutex<Value>

    init(_ value: Value) { lock = Mutex(value) }

    var value: Value {
        get { lock.withLock { $0 } }
        set { lock.withLock { $0 = newValue } }
    }
}
