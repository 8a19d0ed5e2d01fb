import Foundation

/// A lock held by the process that delivers a message, so that the mail server's next attempt does not deliver it at the
/// same time.
///
/// Each message locks one byte of the same file, at an offset computed from its entry. The lock ends when the process ends.
/// It also excludes other deliveries in the same process, and is not released when another lock on the file is closed.
/// Source: fcntl(2), F_OFD_SETLK
package struct DeliveryLock: ~Copyable {
    /// How long to wait for another process, in seconds. A mail server may deliver a message to two groups of its
    /// recipients at once.
    package static let timeout = 30.0

    #if os(Linux)
    /// F_OFD_SETLK, which is not imported into Swift.
    private static let command: Int32 = 37
    #else
    /// This lock does not exclude other threads of the same process.
    private static let command = F_SETLK
    #endif

    private let descriptor: Int32

    /// Takes the lock for `entry`.
    ///
    /// - Throws: `.busy` after `timeout`, or when the task is cancelled; `.cannotCreate`, `.permissions`
    package init(
        _ location: StoreLocation,
        for entry: DeliveryJournal.Entry,
        timeout: Double = Self.timeout
    ) async throws(KeystoreError) {
        let path = location.deliveryLockFile
        let descriptor = try Self.openFile(of: location)
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = Self.place(of: entry)
        range.l_len = 1
        let deadline = Date.now.addingTimeInterval(timeout)
        while fcntl(descriptor, Self.command, &range) != 0 {
            let code = errno
            let isHeld = code == EACCES || code == EAGAIN || code == EINTR
            guard isHeld, Date.now < deadline, !Task.isCancelled else {
                close(descriptor)
                throw isHeld ? KeystoreError.busy(path: path) : KeystoreError.cannotCreate(path: path, code: code)
            }
            try? await Task.sleep(for: .milliseconds(10))
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Opens the lock file, which is created if it is missing.
    private static func openFile(of location: StoreLocation) throws(KeystoreError) -> Int32 {
        let path = location.deliveryLockFile
        try StoreFolder(location: location).inspect(path, isFolder: false)
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw KeystoreError.cannotCreate(path: path, code: errno) }
        return descriptor
    }

    /// Creates the lock file if it is missing.
    static func createFile(of location: StoreLocation) throws(KeystoreError) { close(try openFile(of: location)) }

    /// The offset of the entry's byte in the lock file: an FNV-1a hash of queue ID and digest.
    private static func place(of entry: DeliveryJournal.Entry) -> off_t {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in Array(entry.queueID.utf8) + entry.digest { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return off_t(hash >> 2)
    }
}
