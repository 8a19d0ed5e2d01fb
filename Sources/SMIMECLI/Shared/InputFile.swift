import Foundation
import Streams

/// A file named on the command line; `-` is standard input.
enum InputFile {
    /// Opens it for reading at any position.
    ///
    /// - Parameter mayBeSecret: whether a private key may stand in it as it is.
    static func open(_ path: String, mayBeSecret: Bool = false) throws -> any ByteSource {
        path == "-"
            ? try Input.standardInput(mayBeSecret: mayBeSecret) : try Input.open(path: path, mayBeSecret: mayBeSecret)
    }

    /// What messages call it.
    static func name(_ path: String) -> String { path == "-" ? "standard input" : path }

    /// Whether two paths lead to one regular file.
    static func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        return stat(path, &first) == 0 && stat(other, &second) == 0 && first.st_mode & S_IFMT == S_IFREG
            && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// All of a file of keys or certificates.
    ///
    /// - Throws: `Failure` with status 65 if it is too big to be one.
    static func bytes(of path: String) throws -> [UInt8] { try bytes(of: open(path), at: path) }

    /// All of a file of keys or certificates that is open already.
    static func bytes(of source: any ByteSource, at path: String) throws -> [UInt8] {
        guard source.count <= 256 << 20 else {
            throw Failure(.badData, "\(name(path)): too big for keys or certificates")
        }
        return try source.bytes(in: 0..<source.count)
    }
}
