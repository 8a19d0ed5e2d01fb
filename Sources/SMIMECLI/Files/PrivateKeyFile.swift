import ByteStreams
import Foundation
import LibCrypto
import PKIX
import SMIMEStore

/// A kind of file that private keys lie in; the raw value is what messages say of it.
enum PrivateKeyFile: String, CaseIterable {
    case accountBackup = "is a backup of accounts with their private keys"
    /// PKCS#12, or private keys as such.
    case keys = "holds a private key"
    case storeCopy = "is a database, maybe a copy of a store with its private keys"

    /// What the regular file at `path` begins as; nil if it is none of these, or cannot be read.
    init?(at path: String) {
        guard InputFile.Identity(path) != nil, let source = try? Input.open(path: path, mayBeSecret: true),
            var head = try? source.bytes(in: 0..<min(source.count, Self.headCount))
        else { return nil }
        defer { head.wipe() }
        if Restoration.isBackup(head) {
            self = .accountBackup
        } else if head.starts(with: Self.database) {
            self = .storeCopy
        } else if KeyMaterial.mayHoldPrivateKey(head) {
            self = .keys
        } else {
            return nil
        }
    }

    /// Refuses an output at `target` that would destroy such a file, unless it is one of those that may be replaced.
    ///
    /// - Throws: `Failure` with status 64
    static func check(_ target: String, replacing replaceable: [PrivateKeyFile]) throws {
        guard let keys = PrivateKeyFile(at: target), !replaceable.contains(keys) else { return }
        throw Failure(
            .usage,
            "\(target): \(keys.rawValue), which the output would destroy",
            hints: ["write to another file, or move this one away first"]
        )
    }

    private static let headCount = 64 * 1024
    private static let database = Array("SQLite format 3\0".utf8)
}
