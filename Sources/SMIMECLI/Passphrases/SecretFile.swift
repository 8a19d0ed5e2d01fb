import ByteStreams
import Foundation
import LibCrypto

/// Reads files that contain only a secret. Functions that read messages are not used here, because their spools and buffers
/// are not wiped.
enum SecretFile {
    /// Lends the content of the file, pipe or device at `path` to `body`, and wipes it afterwards.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes.
    ///   - tooLong: the error if there are more bytes.
    /// - Throws: `StreamError.cannotOpen`, `StreamError.readFailed`, and the errors of `body`.
    static func withBytes<Value: ~Copyable>(
        of path: String,
        limit: Int,
        orThrow tooLong: Failure,
        _ body: (Span<UInt8>) throws -> Value
    ) throws -> Value {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: path, code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw StreamError.cannotOpen(path: path, code: EISDIR)
        }
        var count = 0
        let held = try SecretBytes(count: limit + 1) { buffer throws(StreamError) in
            while count < buffer.count {
                var rest = buffer.piece(count..<buffer.count)
                let result = SystemCall.readBytes(descriptor, into: &rest)
                guard result >= 0 || errno == EINTR else { throw StreamError.readFailed(code: errno) }
                if result == 0 { return }
                count += max(result, 0)
            }
        }
        guard count <= limit else { throw tooLong }
        return try held.withBytes { try body($0.extracting(first: count)) }
    }
}
