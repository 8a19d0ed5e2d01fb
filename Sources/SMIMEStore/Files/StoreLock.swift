import Foundation

/// A lock on `StoreLocation.lockFile`, so that only one process at a time creates, migrates or replaces a store, or changes
/// its key or protectors. Held until the value is destroyed.
struct StoreLock: ~Copyable {
    /// How long to wait for another process, in seconds.
    static let timeout = 30.0

    private let descriptor: Int32

    /// Waits for the lock on a thread that may block.
    ///
    /// - Throws: `.busy` after `timeout`, `.cannotCreate`, `.notWritable`, `.permissions`
    init(_ location: StoreLocation, timeout: Double = StoreLock.timeout) throws(KeystoreError) {
        let path = location.lockFile
        try StoreFolder(location: location).inspect(path, isFolder: false)
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0 else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw code == EROFS || code == EACCES
                ? KeystoreError.notWritable(path: path) : KeystoreError.cannotCreate(path: path, code: code)
        }
        let deadline = Date.now.addingTimeInterval(timeout)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, Date.now < deadline else {
                close(descriptor)
                throw KeystoreError.busy(path: path)
            }
            usleep(5000)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
