import ByteStreams
import Foundation
import LibCrypto
import SMIMEAgent

/// Files with private keys.
enum PrivateKeyFile {
    /// The kind of the regular file at `path`; nil if the file contains no private keys, or cannot be read.
    private static func kind(at path: String) -> SecretFileKind? {
        guard FileIdentity(path) != nil, let source = try? Input.open(path: path, mayBeSecret: true),
            var head = try? source.bytes(in: 0..<min(source.count, SecretFileKind.headCount))
        else { return nil }
        defer { head.wipe() }
        if let kind = SecretFileKind(head: head) { return kind }
        // The contents of a profile that another program signed, or wrote in binary form, may not be recognized, so the
        // file's extension decides.
        return path.lowercased().hasSuffix(".mobileconfig") && !head.isEmpty ? .profile : nil
    }

    /// Rejects an output at `target` that would destroy a file with private keys, unless the file is of a `replaceable` kind.
    ///
    /// - Throws: `Failure` with status 64
    static func check(_ target: String, replacing replaceable: [SecretFileKind]) throws {
        guard let kind = kind(at: target), !replaceable.contains(kind) else { return }
        throw Failure(
            .usage,
            "\(target): \(kind.words), which the output would overwrite",
            hints: ["write to another file, or move this one away first"]
        )
    }
}

extension SecretFileKind {
    /// The kind as messages name it.
    fileprivate var words: String {
        switch self {
        case .accountBackup: "is a backup of accounts with their private keys"
        case .keys: "holds a private key"
        case .profile: "is a configuration profile, and may hold private keys"
        case .storeCopy: "is a database, and may be a copy of a store with its private keys"
        }
    }
}
