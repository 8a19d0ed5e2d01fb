package import Foundation
package import InternetMessage

/// Records to which recipients a message was delivered, so that another attempt of the mail server does not deliver it
/// twice.
package struct DeliveryJournal: Sendable {
    /// A message in a mail server's queue.
    package struct Entry: Hashable, Sendable {
        /// The mail server's ID of the message. The server may reuse the ID for another message.
        package let queueID: String
        /// The SHA-256 of the message as received.
        package let digest: [UInt8]
        /// Records before this time belong to another message with the same ID and bytes; nil if there are no such records.
        package let recordsSince: Date?

        package init(queueID: String, digest: [UInt8], recordsSince: Date? = nil) {
            self.queueID = queueID
            self.digest = digest
            self.recordsSince = recordsSince
        }
    }

    /// How long a delivery stays recorded, in seconds: longer than mail servers retry.
    static let memory = 30 * 86_400

    private let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// The recipients in `recipients` to whom the message was not delivered yet. Pass all recipients of this attempt of the
    /// mail server.
    ///
    /// An address that differs from a recorded one only in case or form counts as delivered, unless `recipients` has both
    /// forms.
    package func undelivered(
        _ recipients: [String],
        for entry: Entry
    ) async throws(KeystoreError) -> [String] {
        let done = try await deliveredRecipients(of: entry)
        // Only the receiving server knows whether the case of a local part matters (RFC 5321 §2.4).
        let before = Set(done.subtracting(recipients.map(ExactText.init)).map { Self.key($0.text) })
        return recipients.filter { !done.contains(ExactText($0)) && !before.contains(Self.key($0)) }
    }

    /// Whether the store's server is read-only, according to its latest answer, so that nothing can be recorded.
    package var isOnReadOnlyServer: Bool { database.isReadOnlyServer }

    /// The recipients to whom the message was delivered, as the mail server wrote their addresses. The record of a crash
    /// appears as the empty recipient.
    package func deliveredRecipients(of entry: Entry) async throws(KeystoreError) -> Set<ExactText> {
        // The record of a crash belongs to the bytes, so its time does not matter.
        let condition = "queue_id = ? AND digest = ? AND (time >= ? OR recipient = '')"
        let since = entry.recordsSince?.seconds ?? 0
        let first = "SELECT number, recipient FROM change_counter LEFT JOIN delivery ON \(condition)"
        if let rows = try database.firstRows(first, [entry.queueID, entry.digest, since]) {
            do {
                let recipients = try rows.compactMap { try $0.optional("recipient") as String? }
                return Set(recipients.map(ExactText.init))
            } catch { throw KeystoreError(error, path: database.path) }
        }
        return try await database.read { database in
            try Set(
                database.values(
                    "SELECT recipient FROM delivery WHERE \(condition)",
                    [entry.queueID, entry.digest, since],
                    as: String.self
                ).map(ExactText.init)
            )
        }
    }

    /// The recipient in the record of a crash. A real recipient is never empty.
    private static let crashRecipient = ""

    /// Records durably that a process crashed while handling the message.
    ///
    /// - Returns: whether an earlier crash was recorded.
    package func recordCrash(at entry: Entry, _ time: Date) async throws(KeystoreError) -> Bool {
        let isKnown = try await deliveredRecipients(of: entry).contains(ExactText(Self.crashRecipient))
        if !isKnown { try await record([Self.crashRecipient], of: entry, at: time) }
        return isKnown
    }

    /// The key by which recipients are compared.
    private static func key(_ recipient: String) -> ExactText {
        ExactText((try? EmailAddress(recipient))?.key ?? recipient)
    }

    /// Deletes the records of the message, except the record of a crash. Call this after the reply to the mail server that
    /// all recipients are served. If the same bytes arrive again, they are a new message.
    package func forget(_ entry: Entry) async throws(KeystoreError) {
        _ = try await database.write { database in
            try database.execute(
                "DELETE FROM delivery WHERE queue_id = ? AND digest = ? AND recipient <> ?",
                [entry.queueID, entry.digest, Self.crashRecipient],
                isCounted: false
            )
        }
    }

    /// Checks that records can be written durably, by writing a record that belongs to no message. Only writing detects a
    /// full or failing disk.
    package func check(at time: Date) async throws(KeystoreError) {
        try await record([Self.crashRecipient], of: Entry(queueID: "", digest: []), at: time)
    }

    /// Records durably that the message was delivered to `recipients`, and deletes old records.
    package func record(
        _ recipients: [String],
        of entry: Entry,
        at time: Date
    ) async throws(KeystoreError) {
        try await database.write { database in
            let insert = """
                INSERT INTO delivery (queue_id, digest, recipient, time) VALUES (?, ?, ?, ?)
                ON CONFLICT (queue_id, digest, recipient) DO UPDATE SET time = excluded.time
                """
            for recipient in recipients {
                try database.execute(insert, [entry.queueID, entry.digest, recipient, time.seconds], isCounted: false)
            }
            // A host whose clock is ahead must not delete the records of the other hosts.
            let now = database.serverTime.map { "least(?, \($0))" } ?? "?"
            try database.execute(
                "DELETE FROM delivery WHERE time < \(now) - ?",
                [time.seconds, Self.memory],
                isCounted: false
            )
        }
    }
}

/// A lock held by the process that delivers a message, so that the mail server's next attempt does not deliver it at the
/// same time.
///
/// Each message locks one byte of the same file, at an offset computed from its entry. The lock ends when the process ends.
/// On Linux the lock also excludes other deliveries in the same process, and is not released when another descriptor of the
/// file is closed.
/// Source: fcntl(2), F_OFD_SETLK
package struct DeliveryLock: ~Copyable {
    /// How long to wait for another process, in seconds. A mail server may deliver a message to two groups of its
    /// recipients at once.
    package static let timeout = 30.0

    #if os(Linux)
    /// F_OFD_SETLK, which is not imported into Swift.
    private static let command: Int32 = 37
    #else
    /// A lock of the process, which does not exclude other threads of the same process.
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
