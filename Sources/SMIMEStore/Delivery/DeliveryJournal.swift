package import Foundation
import InternetMessage

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
    static let memory = 30 * 86_400.0

    private let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// The recipients in `recipients` to whom the message was not delivered yet. Pass all recipients of this attempt of the
    /// mail server.
    ///
    /// An address that differs from a recorded one only in case or form counts as delivered, unless `recipients` has both
    /// forms.
    package func waiting(
        _ recipients: [String],
        for entry: Entry
    ) async throws(KeystoreError) -> [String] {
        let done = try await served(entry)
        // Only the receiving server knows whether the case of a local part matters (RFC 5321 §2.4).
        let before = Set(done.subtracting(recipients).map(Self.key))
        return recipients.filter { !done.contains($0) && !before.contains(Self.key($0)) }
    }

    /// Whether the store's server is read-only, according to its latest answer, so that nothing can be recorded.
    package var isOnReadOnlyServer: Bool { database.isReadOnlyServer }

    /// The recipients to whom the message was delivered, as the mail server wrote their addresses.
    package func served(_ entry: Entry) async throws(KeystoreError) -> Set<String> {
        // The record of a crash belongs to the bytes, so its time does not matter.
        let condition = "queue_id = ? AND digest = ? AND (time >= ? OR recipient = '')"
        let since = entry.recordsSince?.seconds ?? 0
        let first = "SELECT number, recipient FROM change_counter LEFT JOIN delivery ON \(condition)"
        if let rows = try database.firstRows(first, [entry.queueID, entry.digest, since]) {
            do { return try Set(rows.compactMap { try $0.optional("recipient") as String? }) } catch {
                throw KeystoreError(error, path: database.path)
            }
        }
        return try await database.read { database in
            try Set(
                database.values(
                    "SELECT recipient FROM delivery WHERE \(condition)",
                    [entry.queueID, entry.digest, since],
                    as: String.self
                )
            )
        }
    }

    /// The recipient in the record of a crash. A real recipient is never empty.
    private static let death = ""

    /// Records durably that a process crashed while handling the message.
    ///
    /// - Returns: whether an earlier crash was recorded.
    package func recordDeath(at entry: Entry, _ time: Date) async throws(KeystoreError) -> Bool {
        let isKnown = try await served(entry).contains(Self.death)
        if !isKnown { try await record([Self.death], of: entry, at: time) }
        return isKnown
    }

    /// The key by which recipients are compared.
    private static func key(_ recipient: String) -> String { (try? EmailAddress(recipient))?.key ?? recipient }

    /// Deletes the records of the message after its mail server was told that all recipients are served. If the same bytes
    /// arrive again, they are a new message.
    package func forget(_ entry: Entry) async throws(KeystoreError) {
        _ = try await database.write { database in
            try database.execute(
                "DELETE FROM delivery WHERE queue_id = ? AND digest = ? AND recipient <> ?",
                [entry.queueID, entry.digest, Self.death],
                isCounted: false
            )
        }
    }

    /// Checks that records can be written durably, by writing one of no message: a full or failing disk cannot be detected
    /// otherwise.
    package func check(at time: Date) async throws(KeystoreError) {
        try await record([Self.death], of: Entry(queueID: "", digest: []), at: time)
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
            try database.execute(
                "DELETE FROM delivery WHERE time < ?",
                [time.addingTimeInterval(-Self.memory).seconds],
                isCounted: false
            )
        }
    }
}
