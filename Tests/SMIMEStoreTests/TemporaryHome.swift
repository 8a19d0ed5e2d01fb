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

    init() {
        path = NSTemporaryDirectory() + "smime-keystore-\(UUID().uuidString)"
        location = StoreLocation(home: path)
    }

    /// A copy of the store that the program wrote when its form was `form`.
    convenience init(form: Int) throws {
        self.init()
        for file in ["data/smime.sqlite", "key/store.key"] {
            let url = URL(filePath: "\(path)/\(file)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(
                at: Fixtures.root.appending(path: "Tests/Stores/form-\(form)/\(file)"),
                to: url
            )
            chmod(url.path, 0o600)
            chmod(url.deletingLastPathComponent().path, 0o700)
        }
        chmod(path, 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

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

/// What `certs/` holds, as values.
enum Certs {
    /// A time at which the test certificates are judged.
    static let time = Date(timeIntervalSince1970: 1_793_491_200)

    static func certificate(_ name: String, file: String = "cert.pem") throws -> Certificate {
        try Certificate(der: der(name, file))
    }

    static func key(_ name: String, file: String = "key.pem") throws -> PrivateKey {
        try PrivateKey(pkcs8: der(name, file))
    }

    /// `name`'s identity, for the accounts its certificate names.
    static func identity(_ name: String) throws -> ImportBatch.IdentityItem {
        let certificate = try certificate(name)
        return .init(
            Identity(unchecked: certificate, try key(name)),
            accounts: certificate.emailAddresses,
            isAssigned: false
        )
    }

    /// Everything a .p12 of `names` brings, with the test CA.
    static func batch(_ names: String...) throws -> ImportBatch {
        var batch = ImportBatch()
        batch.identities = try names.map(identity)
        batch.intermediates = [try certificate("ca", file: "intermediate.pem")]
        return batch
    }

    /// The test CA, trusted.
    static func authorities() throws -> ImportBatch {
        var batch = ImportBatch()
        batch.anchors = [try certificate("ca", file: "root.pem")]
        batch.intermediates = [try certificate("ca", file: "intermediate.pem")]
        return batch
    }

    private static func der(_ name: String, _ file: String) throws -> [UInt8] {
        let text = String(decoding: try Fixtures.cert("\(name)/\(file)"), as: UTF8.self)
        let lines = text.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN") }.dropFirst()
        guard let data = Data(base64Encoded: lines.prefix { !$0.hasPrefix("-----END") }.joined()) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return Array(data)
    }
}
