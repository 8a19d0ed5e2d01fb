import Foundation
import GRDB
import InternetMessage
import PKIX
import SMIME
import SMIMEStore
import Synchronization
import TestSupport

/// A home of its own for one test, gone when the test is.
final class TemporaryHome {
    let path: String
    let location: StoreLocation
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
        path = temporary.file("store").path
        location = StoreLocation(home: path)
    }

    func open(_ mode: Store.Mode = .readWrite) async throws -> Store { try await Store.open(location, mode: mode) }

    /// Reads the database behind the store's back.
    func query<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        let queue = try DatabaseQueue(path: location.database)
        let value = try await queue.read(body)
        try queue.close()
        return value
    }

    /// Changes the database behind the store's back, without regard to references.
    func change(_ sql: String) async throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: location.database, configuration: configuration)
        try await queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Permissions of a file below the home, in octal.
    func mode(_ name: String) throws -> String {
        var status = stat()
        guard lstat("\(path)/\(name)", &status) == 0 else { throw CocoaError(.fileNoSuchFile) }
        return String(status.st_mode & 0o7777, radix: 8)
    }
}

/// A value that several threads change.
final class Locked<Value: Sendable>: Sendable {
    private let lock: Mutex<Value>

    init(_ value: Value) { lock = Mutex(value) }

    var value: Value {
        get { lock.withLock { $0 } }
        set { lock.withLock { $0 = newValue } }
    }
}
