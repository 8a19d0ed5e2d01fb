import Foundation

/// A file that appears whole under its name, or not at all.
///
/// What is written goes to a temporary beside the target, which takes the target's name in `commit()`. Without a
/// commit nothing is left behind. A target that is no regular file (a device, a pipe) is written in place.
public final class OutputFile: ByteSink {
    private let target: String
    private var temporary: String?
    private let descriptor: Int32
    private let sink: DescriptorSink

    /// Prepares to write `path`.
    ///
    /// - Parameter isPrivate: mode 0600 for plaintext and keys; else 0666 less the umask.
    /// - Throws: `StreamError.cannotCreate`
    public init(path: String, isPrivate: Bool) throws(StreamError) {
        target =
            realpath(path, nil).map { resolved in
                defer { free(resolved) }
                return String(cString: resolved)
            } ?? path
        var status = stat()
        if stat(target, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            descriptor = open(target, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw StreamError.cannotCreate(path: path, code: errno) }
        } else {
            let folder = (target as NSString).deletingLastPathComponent
            do throws(StreamError) {
                let made = try TemporaryFile.named(in: folder.isEmpty ? "." : folder, mode: isPrivate ? 0o600 : 0o666)
                descriptor = made.descriptor
                temporary = made.path
            } catch {
                guard case .cannotCreate(_, let code) = error else { throw error }
                throw StreamError.cannotCreate(path: path, code: code)
            }
        }
        sink = DescriptorSink(descriptor)
    }

    deinit {
        close(descriptor)
        if let temporary { unlink(temporary) }
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws { try sink.write(bytes) }

    /// Makes everything written durable and gives it the target's name.
    public func commit() throws {
        try sink.flush()
        guard let temporary else { return }
        guard fsync(descriptor) == 0 else { throw StreamError.writeFailed(code: errno) }
        guard rename(temporary, target) == 0 else { throw StreamError.cannotCreate(path: target, code: errno) }
        self.temporary = nil
    }
}
