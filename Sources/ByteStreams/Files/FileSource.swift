#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A regular file that is read on demand. It is not memory-mapped, so that truncating the file causes an error instead of a
/// signal.
package final class FileSource: ByteSource {
    private let descriptor: Int32
    private let start: Int
    private let status: stat
    /// The number of bytes from `start` to the end of the file at the time when it was opened.
    package let count: Int

    /// Opens the file at `path`.
    ///
    /// - Throws: `StreamError.cannotOpen` if the file cannot be opened or is a directory (`EISDIR`); `.notRegular` for a pipe
    ///   or device, which only `Input.open` can read.
    package convenience init(path: String) throws(StreamError) {
        // The system would open the file whose name ends before the zero byte.
        guard !path.utf8.contains(0) else { throw StreamError.cannotOpen(path: path, code: EINVAL) }
        // With `O_NONBLOCK`, opening a pipe does not block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw StreamError.cannotOpen(path: path, code: errno) }
        do throws(StreamError) {
            try self.init(adopting: descriptor, from: 0)
        } catch {
            defer { close(descriptor) }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw StreamError.cannotOpen(path: path, code: errno) }
            guard status.st_mode & S_IFMT != S_IFDIR else { throw StreamError.cannotOpen(path: path, code: EISDIR) }
            throw StreamError.notRegular(path: path)
        }
    }

    /// Takes ownership of an open descriptor of a regular file and reads from `start` to the file's current end.
    init(adopting descriptor: Int32, from start: Int) throws(StreamError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw StreamError.readFailed(code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw StreamError.readFailed(code: EINVAL) }
        self.descriptor = descriptor
        self.start = start
        self.status = status
        count = max(0, Int(status.st_size) - start)
    }

    deinit { close(descriptor) }

    /// Whether there is a file at a path.
    package enum Presence: Sendable {
        /// There is a file, or a link whose target may be missing.
        case there
        case absent
        /// Unknown, for example because the folder cannot be searched.
        case unknown
    }

    /// Whether there is a file at `path`.
    package static func presence(of path: String) -> Presence {
        var status = stat()
        guard lstat(path, &status) != 0 else { return .there }
        return [ENOENT, ENOTDIR].contains(errno) ? .absent : .unknown
    }

    /// Whether there may be a file at `path`: false only if there is certainly none.
    package static func mayExist(_ path: String) -> Bool { presence(of: path) != .absent }

    /// A duplicate of the descriptor if the file has no name and the source covers all of it; otherwise nil.
    func copyOfUnnamed() throws(StreamError) -> Int32? {
        guard status.st_nlink == 0, start == 0 else { return nil }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw StreamError.readFailed(code: errno) }
        return copy
    }

    package func read(into buffer: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int {
        let wanted = min(buffer.count, count - offset)
        guard wanted > 0 else { return 0 }
        while true {
            let result = buffer.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, wanted, off_t(start + offset))
            }
            if result >= 0 { return result }
            guard errno == EINTR else { throw StreamError.readFailed(code: errno) }
        }
    }

    package func checkUnchanged() throws(StreamError) {
        var now = stat()
        guard fstat(descriptor, &now) == 0 else { throw StreamError.readFailed(code: errno) }
        let same =
            now.st_size == status.st_size && now.modificationTime == status.modificationTime
            && now.st_ino == status.st_ino
        guard same else { throw StreamError.changedWhileReading }
    }
}

extension stat {
    fileprivate var modificationTime: [Int] {
        #if canImport(Darwin)
        [Int(st_mtimespec.tv_sec), Int(st_mtimespec.tv_nsec)]
        #else
        [Int(st_mtim.tv_sec), Int(st_mtim.tv_nsec)]
        #endif
    }
}

/// Operations on paths as text.
enum FilePath {
    /// The folder of `path`; `.` if the path has no folder part.
    ///
    /// Foundation's `deletingLastPathComponent` crashes for a path of one character (swift-foundation of Swift 6.3).
    static func folder(of path: String) -> String {
        let slash = UInt8(ascii: "/")
        var above = Array(path.utf8)
        while above.last == slash { above.removeLast() }
        while let last = above.last, last != slash { above.removeLast() }
        while above.last == slash { above.removeLast() }
        guard above.isEmpty else { return String(decoding: above, as: UTF8.self) }
        return path.utf8.first == slash ? "/" : "."
    }
}
