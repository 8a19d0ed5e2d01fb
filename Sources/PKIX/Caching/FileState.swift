#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The identity (path, device, inode), size and times of change of a file. A change of the content changes the state, because
/// the file system then updates the times.
package struct FileState: Hashable, Sendable {
    private let path: String
    private let device: dev_t
    private let node: ino_t
    /// The file's length in bytes.
    package let size: Int
    /// The times of the last changes of content and status, in seconds and nanoseconds.
    private let times: [Int]

    /// Returns nil if stat(2) fails, for example because there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.path = path
        (device, node, size) = (status.st_dev, status.st_ino, Int(status.st_size))
        #if os(Linux)
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #else
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #endif
        times = [modified.tv_sec, modified.tv_nsec, changed.tv_sec, changed.tv_nsec]
    }
}
