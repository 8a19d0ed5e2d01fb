#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Identifies a regular file independently of its path.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// - Returns: nil if `path` is not the path of a regular file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
    }

    /// Whether two paths lead to the same regular file.
    package static func isSame(_ path: String, as other: String) -> Bool {
        FileIdentity(path).map { $0 == FileIdentity(other) } ?? false
    }
}
