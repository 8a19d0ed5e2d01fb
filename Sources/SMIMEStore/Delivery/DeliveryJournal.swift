package import Foundation
import GRDB
import InternetMessage

/// Records which recipients got a message, so that a mail server's second attempt sends nothing twice.
package actor DeliveryJournal {
    /// One message in a mail server's queue.
    package struct Entry: Hashable, Sendable {
        /// The mail server's name for it, which may be used again for another one.
        package let queueID: String
        /// The SHA-256 of the message as it came.
        package let digest: [UInt8]

        package init(queueID: String, digest: [UInt8]) {
            self.queueID = queueID
            self.digest = digest
        }
    }

    /// How long a delivery is remembered, in seconds: longer than mail servers retry.
    static let memory = 30 * 86_400.0

    private let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// Those of `recipients`, all current recipients of the mail server, who have not got the message yet.
    ///
    /// A recipient in another case or form than before is the same one, unless `recipients` has both forms.
    package func waiting(
        _ recipients: [String],
        for entry: Entry
    ) async throws(KeystoreError) -> [String] {
        let done = try await served(entry)
        // By RFC 5321 §2.4 the case of a local part may make a difference; only its owner knows.
        let before = Set(done.subtracting(recipients).map(Self.key))
        return recipients.filter { !done.contains($0) && !before.contains(Self.key($0)) }
    }

    /// The recipients who have the message, as the mail server named them.
    package func served(_ entry: Entry) async throws(KeystoreError) -> Set<String> {
        try await database.read { database in
            try String.fetchSet(
                database.cachedStatement("SELECT recipient FROM handed_over WHERE queue_id = ? AND digest = ?"),
                arguments: [entry.queueID, Data(entry.digest)]
            )
        }
    }

    /// Stands for the message itself among those who have it; no envelope has such a recipient.
    private static let death = ""

    /// Remembers, durably, that a process died at the message.
    ///
    /// - Returns: whether one had died at it before.
    package func recordDeath(at entry: Entry, _ time: Date) async throws(KeystoreError) -> Bool {
        let isKnown = try await served(entry).contains(Self.death)
        if !isKnown { try await record([Self.death], of: entry, at: time) }
        return isKnown
    }

    /// A key that equal recipients share.
    private static func key(_ recipient: String) -> String { (try? EmailAddress(recipient))?.key ?? recipient }

    /// Remembers that `recipients` got the message, durably, and forgets what is too old to be asked for.
    package func record(
        _ recipients: [String],
        of entry: Entry,
        at time: Date
    ) async throws(KeystoreError) {
        try await database.write { database in
            let insert = try database.cachedStatement(
                "INSERT OR IGNORE INTO handed_over (queue_id, digest, recipient, time) VALUES (?, ?, ?, ?)"
            )
            for recipient in recipients {
                try insert.execute(
                    arguments: [entry.queueID, Data(entry.digest), recipient, time.seconds]
                )
            }
            try database.cachedStatement("DELETE FROM handed_over WHERE time < ?")
                .execute(arguments: [time.addingTimeInterval(-Self.memory).seconds])
        }
    }
}
