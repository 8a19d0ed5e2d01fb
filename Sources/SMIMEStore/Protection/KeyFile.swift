import Foundation
import LibCrypto
import PKIX

/// The file that holds the key which seals the store key.
///
/// A new key is written beside the old one before the database changes, and replaces it afterwards. A kill in between
/// leaves both files, and the database shows which one is right.
struct KeyFile {
    private static let magic = Array("smime-key-1\n".utf8)

    let folder: StoreFolder

    init(_ location: StoreLocation) { folder = StoreFolder(location: location) }

    var path: String { folder.location.keyFile }
    private var successorPath: String { folder.location.keyFileSuccessor }

    /// The key in the file; nil if there is no file.
    ///
    /// - Throws: `.permissions`, `.cannotOpen`, `.corrupt`
    func key() throws(KeystoreError) -> SealingKey? { try read(path) }

    /// The key that is about to take the place of `key()`, or should have.
    func successor() throws(KeystoreError) -> SealingKey? { try read(successorPath) }

    /// Writes `key` as the key file of a store that has none.
    func create(_ key: SealingKey) throws(KeystoreError) { try write(key, to: path) }

    /// Writes `key` beside the key file. Call under `StoreLock`.
    func prepare(_ key: SealingKey) throws(KeystoreError) { try write(key, to: successorPath) }

    /// Puts the successor in the key file's place. Call under `StoreLock`, once the database agrees.
    func adopt() throws(KeystoreError) { try folder.rename(successorPath, to: path) }

    /// Removes the successor of a change that did not happen. Call under `StoreLock`.
    func discard() { unlink(successorPath) }

    /// Removes the key file and its successor, once the database needs neither. Call under `StoreLock`.
    func remove() throws(KeystoreError) {
        discard()
        guard unlink(path) == 0 || errno == ENOENT else {
            throw KeystoreError.writeFailed(path: path, reason: String(cString: strerror(errno)))
        }
    }

    private func write(_ key: SealingKey, to path: String) throws(KeystoreError) {
        var bytes = Self.magic + key.withBytes { Array($0) }
        defer { bytes.wipe() }
        try folder.createFile(path, holding: bytes)
    }

    private func read(_ path: String) throws(KeystoreError) -> SealingKey? {
        guard try folder.inspect(path, isFolder: false) else { return nil }
        let descriptor = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code = errno
            // Another process may have moved the successor to the place of the key file.
            guard code != ENOENT else { return nil }
            throw KeystoreError.cannotOpen(path: path, reason: String(cString: strerror(code)))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.magic.count + SealingKey.count + 1)
        defer { bytes.wipe() }
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        guard count == Self.magic.count + SealingKey.count, bytes.starts(with: Self.magic),
            let key = bytes[Self.magic.count..<count].withUnsafeBytes({ SealingKey($0) })
        else { throw KeystoreError.corrupt(path: path, detail: "is not a key file of smime") }
        return key
    }
}
