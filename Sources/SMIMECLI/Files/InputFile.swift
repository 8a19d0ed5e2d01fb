import ByteStreams
import Foundation
import PKIX
import SMIMEAgent

/// A file named on the command line; `-` is standard input.
enum InputFile {
    /// Opens it for reading at any position.
    ///
    /// - Parameter mayBeSecret: whether it may contain an unencrypted private key.
    static func open(_ path: String, mayBeSecret: Bool = false) throws -> any ByteSource {
        path == "-"
            ? try Input.standardInput(mayBeSecret: mayBeSecret) : try Input.open(path: path, mayBeSecret: mayBeSecret)
    }

    /// The file's name in messages.
    static func name(_ path: String) -> String { InputName.shown(path) }

    /// Which regular file it is, whatever its path.
    struct Identity: Hashable {
        private let device: UInt64
        private let number: UInt64

        /// - Returns: nil if `path` leads to no regular file.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
        }
    }

    /// Whether two paths lead to one regular file.
    static func isSame(_ path: String, _ other: String) -> Bool {
        Identity(path).map { $0 == Identity(other) } ?? false
    }

    /// All of a file of keys or certificates.
    ///
    /// - Throws: `AgentError.tooBigForKeys`
    static func bytes(of path: String) throws -> [UInt8] { try bytes(of: open(path), at: path) }

    /// All of a file of keys or certificates that is open already.
    static func bytes(of source: any ByteSource, at path: String) throws -> [UInt8] {
        guard source.count <= KeyMaterial.maximumFileSize else { throw AgentError.tooBigForKeys(file: path) }
        return try source.bytes(in: 0..<source.count)
    }
}
