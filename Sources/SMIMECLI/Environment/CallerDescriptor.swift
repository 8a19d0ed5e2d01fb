import Foundation
import Synchronization

/// A file descriptor whose number is on the command line.
///
/// If the caller did not open it, the process may use its number for a file of its own, such as the store's database. So the
/// number is checked while the command line is read, before anything else is opened.
enum CallerDescriptor {
    /// The descriptors from the caller that were claimed.
    private static let claimed = Mutex<Set<Int32>>([])

    /// Notes that this process uses `descriptor`. Programs that this process starts do not inherit it: their standard streams
    /// are replaced, and any other descriptor is closed in them.
    ///
    /// - Returns: whether the caller opened it.
    @discardableResult
    static func claim(_ descriptor: Int32) -> Bool {
        guard isOpen(descriptor) else { return false }
        if descriptor > STDERR_FILENO { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        claimed.withLock { _ = $0.insert(descriptor) }
        return true
    }

    /// Whether the caller opened `descriptor`. A descriptor from the caller has no close-on-exec flag, unless it was claimed;
    /// a descriptor with that flag was opened in this process.
    static func isOpen(_ descriptor: Int32) -> Bool {
        let flags = fcntl(descriptor, F_GETFD)
        return flags >= 0 && (flags & FD_CLOEXEC == 0 || claimed.withLock { $0.contains(descriptor) })
    }

    /// Whether `descriptor`, which is open, can be written to.
    static func isWritable(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY }
}
