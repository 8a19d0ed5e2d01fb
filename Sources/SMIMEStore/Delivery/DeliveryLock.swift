import Foundation

/// Held by the process that delivers a message, so that a mail server's next attempt does not deliver it at the same time.
///
/// Each message locks one byte of one file, at an offset that its entry determines. The lock ends with the process. It also excludes others
/// in the same process, and stays when one of those ends. Source: fcntl(2), F_OFD_SETLK
package struct DeliveryLock: ~Copyable {
    /// How long to wait for another process, in seconds: a mail server may give us the recipients of one message in two
    /// attempts at once.
    package static let timeout = 30.0

    #if os(Linux)
    /// F_OFD_SETLK, which Swift does not see.
    private static let command: Int32 = 37
    #else
    /// Within one process it excludes no thread.
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
        try StoreFolder(location: location).inspect(path, isFolder: false)
        let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw KeystoreError.cannotCreate(path: path, code: errno) }
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

    /// FNV-1a over queue id and digest, as a place in a file.
    private static func place(of entry: DeliveryJournal.Entry) -> off_t {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in Array(entry.queueID.utf8) + entry.digest { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return off_t(hash >> 2)
    }
}
