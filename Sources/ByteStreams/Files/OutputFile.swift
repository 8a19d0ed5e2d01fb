#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file that appears under its name only when it is complete.
///
/// The content is written to a temporary file in the target's folder, which `commit()` renames to the target. If the
/// system supports it, the temporary file has no name until then, so that even a crash leaves no file behind.
///
/// Other processes may write to the following targets at the same time, so these are written directly:
/// - a target that is not a regular file, such as a device or a pipe;
/// - a descriptor of this process, such as /dev/stdout.
package final class OutputFile: ByteSink {
    private let target: String
    /// The folder of the temporary file; nil if the target is written directly.
    private let folder: String?
    /// The path of the temporary file; nil if it has no name.
    private var temporary: String?
    private let descriptor: Int32
    private let sink: DescriptorSink
    private var isCommitted = false

    /// Prepares to write `path`.
    ///
    /// - Parameter isPrivate: if true, the mode is 0600 (for plaintext and keys); otherwise 0666 without the bits of the
    ///   umask. If the file replaces another one, it gets no permissions that the other one does not have.
    /// - Throws: `StreamError.cannotCreate`
    package init(path: String, isPrivate: Bool) throws(StreamError) {
        // The system would write the file whose name ends before the zero byte.
        guard !path.utf8.contains(0) else { throw StreamError.cannotCreate(path: path, code: EINVAL) }
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFREG, let number = try Self.descriptor(named: path) {
            target = path
            descriptor = try Self.duplicate(number, named: path)
            folder = nil
        } else if exists, status.st_mode & S_IFMT != S_IFREG {
            // The target is not resolved here, because a pipe behind /dev/fd has no other name.
            target = path
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw StreamError.cannotCreate(path: path, code: errno) }
            folder = nil
        } else {
            target = try Self.resolved(path)
            let folder = FilePath.folder(of: target)
            self.folder = folder
            // The new file must not be readable by more users than the file it replaces.
            let mode = (isPrivate ? 0o600 : 0o666) & (exists ? status.st_mode : 0o666)
            do throws(StreamError) {
                if let unnamed = TemporaryFile.unnamed(in: folder, mode: mode) {
                    descriptor = unnamed
                } else {
                    (descriptor, temporary) = try TemporaryFile.named(in: folder, mode: mode)
                }
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

    /// - Throws: `StreamError.writeFailed`; `.alreadyCommitted` after `commit()`
    package func write(_ bytes: Span<UInt8>) throws {
        guard !isCommitted else { throw StreamError.alreadyCommitted(path: target) }
        try sink.write(bytes)
    }

    /// Syncs the file to the disk, renames it to the target, and syncs the folder if the folder is readable. For a target
    /// that is written directly, only writes the bytes that are still in the buffer.
    ///
    /// - Throws: `StreamError.writeFailed`, `.cannotCreate`; `.alreadyCommitted` if called a second time. If only
    ///   syncing the folder fails, the target was already replaced.
    package func commit() throws {
        guard !isCommitted else { throw StreamError.alreadyCommitted(path: target) }
        try sink.flush()
        guard let folder else { return isCommitted = true }
        guard fsync(descriptor) == 0 else { throw StreamError.writeFailed(code: errno) }
        let temporary = try self.temporary ?? TemporaryFile.name(descriptor, in: folder)
        self.temporary = temporary
        guard rename(temporary, target) == 0 else { throw StreamError.cannotCreate(path: target, code: errno) }
        self.temporary = nil
        isCommitted = true
        try TemporaryFile.synchronize(folder: folder)
    }
}

extension OutputFile {
    /// The descriptor of this process that `path` names, in any spelling and through any symlinks; nil if it names none.
    private static func descriptor(named path: String) throws(StreamError) -> Int32? {
        let folders = ["/dev/fd", "/proc/\(getpid())/fd"]
        var path = path
        for _ in 0..<maximumLinks {
            let folder = canonical(FilePath.folder(of: path)) ?? ""
            let isOfThread = folder.hasPrefix("/proc/\(getpid())/task/") && folder.hasSuffix("/fd")
            if folders.contains(folder) || isOfThread { return path.split(separator: "/").last.flatMap { Int32($0) } }
            guard let target = try target(ofLink: path) else { return nil }
            path = target.hasPrefix("/") ? target : "\(FilePath.folder(of: path))/\(target)"
        }
        return nil
    }

    /// A copy of the descriptor `number`, which `path` names.
    ///
    /// A descriptor with the close-on-exec flag is rejected, because this process opened it itself, for example for a file of
    /// the store. The descriptor that the user named was not open, and its number was reused.
    private static func duplicate(_ number: Int32, named path: String) throws(StreamError) -> Int32 {
        let flags = fcntl(number, F_GETFD)
        guard flags >= 0, flags & FD_CLOEXEC == 0 else { throw .cannotCreate(path: path, code: EBADF) }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw .cannotCreate(path: path, code: errno) }
        return copy
    }

    /// The absolute path of an output file at `path`. Symlinks are resolved in the part of the path that exists.
    ///
    /// - Throws: `StreamError.cannotCreate` for more than 40 symlinks, or for a symlink whose target is not valid UTF-8.
    package static func absolutePath(of path: String) throws(StreamError) -> String {
        if let found = canonical(path) { return found }
        var folder = try resolved(path)
        var missing = ""
        while true {
            if let base = canonical(folder) {
                return missing.isEmpty ? base : (base == "/" ? "" : base) + missing
            }
            let above = FilePath.folder(of: folder)
            guard above != folder else { return folder + missing }
            let name = folder.split(separator: "/").last ?? ""
            missing = "/\(name)\(missing)"
            folder = above
        }
    }

    /// The path of the file that `named` refers to, whether it exists or not. A symlink is followed and never replaced.
    static func resolved(_ named: String) throws(StreamError) -> String {
        var path = named
        for _ in 0..<maximumLinks {
            if let found = canonical(path) { return found }
            guard let target = try target(ofLink: path) else { return path }
            path = target.hasPrefix("/") ? target : "\(FilePath.folder(of: path))/\(target)"
        }
        throw .cannotCreate(path: named, code: ELOOP)
    }

    /// The target of the symlink at `path`; nil if `path` is not a symlink.
    private static func target(ofLink path: String) throws(StreamError) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // A name that is not valid UTF-8 is rejected: repairing it would give the name of another file.
        guard let target = String(validating: bytes.prefix(count), as: UTF8.self) else {
            throw .cannotCreate(path: path, code: EILSEQ)
        }
        return target
    }

    /// The path of an existing file, without symlinks.
    private static func canonical(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// The maximum number of symlinks to follow, the same as in Linux.
    private static let maximumLinks = 40
}
