package import ByteStreams
package import Foundation
package import SMIMEStore

/// The finished messages made of one mail, ready to be sent.
///
/// Only the transport and the journal can still fail. The journal has the recipients of each message before the next one is sent.
package struct Delivery: Sendable {
    /// One message, and who gets it.
    package struct Message: Sendable {
        /// The message.
        package let content: any ByteSource
        /// The envelope's recipients, as the mail server wrote them.
        package let recipients: [String]
        /// The envelope sender of this one; nil for that of them all.
        package let sender: String?

        package init(_ content: any ByteSource, to recipients: [String], from sender: String? = nil) {
            self.content = content
            self.recipients = recipients
            self.sender = sender
        }
    }

    /// The envelope sender; empty for the null sender.
    package let sender: String
    /// The messages, sent one after the other.
    package let messages: [Message]

    package init(from sender: String, _ messages: [Message]) {
        self.sender = sender
        self.messages = messages
    }

    private func send(
        _ message: Message,
        to recipients: [String],
        _ transport: any MailTransport,
        _ named: (String) -> Void
    ) async throws(TransportError) {
        let name = try await transport.send(message.content, from: message.sender ?? sender, to: recipients)
        if let name { named(name) }
    }

    /// Sends the messages in order. With a journal, only to recipients who do not have theirs, and only if no other
    /// process is sending.
    ///
    /// - Parameters:
    ///   - entry: the journal's name of the message in `store`; nil for no journal.
    ///   - timeout: how many seconds to wait until the journal can be written; a full disk is not waited for.
    ///   - named: called with the transport's name of each message, if it reports one.
    ///   - warn: called if the recipients could not be recorded in the end.
    /// - Throws: `TransportError`, `KeystoreError`; what was sent until then is in the journal.
    package func run(
        through transport: any MailTransport,
        rememberingIn store: Store?,
        as entry: DeliveryJournal.Entry?,
        at time: Date,
        timeout: Int = 60,
        named: @Sendable (String) -> Void = { _ in },
        warn: @Sendable (String) -> Void = { _ in }
    ) async throws {
        guard let store, let entry else {
            for message in messages { try await send(message, to: message.recipients, transport, named) }
            return
        }
        let lock = try await DeliveryLock(store.location, for: entry)
        var unrecorded: [String] = []
        var failure: (any Error)?
        var obstacle: KeystoreError?
        func record() async {
            do throws(KeystoreError) {
                try await store.journal.record(unrecorded, of: entry, at: time)
                (unrecorded, obstacle) = ([], nil)
            } catch { obstacle = error }
        }
        do {
            for message in messages {
                let served = try await store.journal.served(entry)
                let waiting = message.recipients.filter { !served.contains($0) }
                guard !waiting.isEmpty else { continue }
                // A refused message does not stop the others, which might never be sent otherwise.
                do { try await send(message, to: waiting, transport, named) } catch {
                    failure = failure ?? error
                    continue
                }
                unrecorded += waiting
                // A record that cannot be written now must not delay the others.
                await record()
            }
        } catch { failure = failure ?? error }
        // A second attempt must know which recipients have their message. It follows success, too, if the filter is killed before the mail
        // server learns of it.
        for _ in 0..<timeout {
            guard let obstacle, !obstacle.isWriteFailure else { break }
            try? await Task.sleep(for: .seconds(1))
            await record()
        }
        _ = consume lock
        if let obstacle { warn("the delivery is not recorded, so another attempt would send it again: \(obstacle)") }
        if let failure { throw failure }
    }
}

extension KeystoreError {
    /// Whether the disk is full or broken, which waiting does not change.
    fileprivate var isWriteFailure: Bool {
        guard case .writeFailed = self else { return false }
        return true
    }
}
