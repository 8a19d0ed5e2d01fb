import CMS
import Foundation
import GRDB

/// The key that all private keys are sealed with, itself sealed by a protector: the key file.
///
/// The protector can be changed without touching a private key.
struct StoreKey: Sendable {
    private static let protector = "key-file"
    private static let purpose = Array("smime store key under key file".utf8)
    private static let magic = Array("smime-key-1\n".utf8)

    private let key: SealingKey

    /// A new store key, with the row of `protector` that gives it back.
    ///
    /// The key file of an interrupted attempt is used again. Call under `StoreLock`.
    static func create(in folder: StoreFolder) throws -> (Database) throws -> Void {
        if try !folder.inspect(folder.location.keyFile, isFolder: false) {
            let bytes = try SealingKey.generate().withBytes { magic + $0 }
            try folder.createFile(folder.location.keyFile, holding: bytes)
        }
        let fileKey = try fileKey(in: folder)
        let sealed = try SealingKey.generate().withBytes { try fileKey.seal($0, authenticating: purpose) }
        return { database in
            try database.execute(
                sql: "INSERT INTO protector (kind, sealed) VALUES (?, ?)",
                arguments: [protector, Data(sealed)]
            )
        }
    }

    /// What `init(sealed:location:)` needs from the database.
    static func sealed(in database: Database) throws -> [UInt8]? {
        try Data.fetchOne(database, sql: "SELECT sealed FROM protector WHERE kind = ?", arguments: [protector]).map {
            [UInt8]($0)
        }
    }

    /// Opens the store key with the key file of `location`.
    ///
    /// - Throws: `.keyMissing`, `.keyMismatch`, `.permissions`, `.corrupt`
    init(sealed: [UInt8]?, location: StoreLocation) throws(KeystoreError) {
        guard let sealed else { throw KeystoreError.corrupt(path: location.database, detail: "has no protector") }
        let fileKey = try Self.fileKey(in: StoreFolder(location: location))
        do {
            let opened = try fileKey.withOpened(sealed, authenticating: Self.purpose) { SealingKey($0) }
            guard let opened else { throw KeystoreError.corrupt(path: location.database, detail: "store key") }
            key = opened
        } catch let error as KeystoreError {
            throw error
        } catch {
            throw KeystoreError.keyMismatch(path: location.keyFile)
        }
    }

    /// Seals the private key of a certificate, bound to its fingerprint.
    func seal(_ key: PrivateKey, for fingerprint: Fingerprint) throws -> [UInt8] {
        try key.sealed(under: self.key, authenticating: fingerprint.bytes)
    }

    /// Opens what `seal` made for the same certificate.
    func open(_ sealed: [UInt8], for fingerprint: Fingerprint) throws -> PrivateKey {
        try PrivateKey(sealed: sealed, under: key, authenticating: fingerprint.bytes)
    }

    private static func fileKey(in folder: StoreFolder) throws(KeystoreError) -> SealingKey {
        let path = folder.location.keyFile
        guard try folder.inspect(path, isFolder: false) else { throw KeystoreError.keyMissing(path: path) }
        let descriptor = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw KeystoreError.cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: magic.count + SealingKey.count + 1)
        let count = read(descriptor, &bytes, bytes.count)
        guard count == magic.count + SealingKey.count, bytes.starts(with: magic) else {
            throw KeystoreError.corrupt(path: path, detail: "is not a key file of smime")
        }
        defer { bytes.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) } }
        guard let key = SealingKey(bytes[magic.count..<count]) else {
            throw KeystoreError.corrupt(path: path, detail: "is not a key file of smime")
        }
        return key
    }
}
