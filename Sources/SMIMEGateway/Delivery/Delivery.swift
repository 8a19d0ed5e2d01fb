package import ByteStreams
package import Foundation
package import SMIMEStore

/// The finished messages that result from one mail, ready to be sent.
///
/// Only the transport and the journal can still fail. The recipients of each message are recorded in the journal before the
/// next message is sent.
package struct Delivery: Sendable {
    /// One message and its recipients.
    package struct Message: Sendable {
        /// The message.
        package let content: any ByteSource
        /// The envelope's recipients, as the mail server wrote them.
        package let recipients: [String]
        /// The envelope sender of this message; nil means the sender of the delivery.
        package let sender: String?

        package init(_ content: any ByteSource, to recipients: [String], from sender: String? = nil) {
            self.content = content
            self.recipients = recipients
            self.sender = sender
        }
    }

    /// The envelope sender; empty for the null sender.
    package let sender: String
    /// The messages, in the order in which they are sent.
    package let messages: [Message]

    package init(from sender: String, _ messages: [Message]) {
        self.sender = sender
        self.messages = messages
    }

    private func send(
        _ message: Message,
        to recipients: [String],
        through transport: any ContentTransport,
        named: (String) -> Void
    ) async throws(TransportError) {
        let name = try await transport.send(message.content, from: message.sender ?? sender, to: recipients)
        if let name { named(name) }
    }

    /// Sends the messages in order. With a journal, sends only to recipients who are not recorded in it, and only if no
    /// other process is sending.
    ///
    /// - Parameters:
    ///   - entry: identifies the mail in the journal of `store`; nil if there is no journal.
    ///   - timeout: how many times to retry recording, once a second, for example while another process uses the database.
    ///     A write error, such as a full disk, is not retried.
    ///   - named: called with the transport's name for each message, if it reports one.
    ///   - warn: called if some recipients could not be recorded.
    /// - Throws: `TransportError`, `KeystoreError`; the messages that were sent before are recorded in the journal.
    package func run(
        through transport: any ContentTransport,
        rememberingIn store: Store?,
        as entry: DeliveryJournal.Entry?,
        at time: Date,
        timeout: Int = 60,
        named: @Sendable (String) -> Void = { _ in },
        warn: @Sendable (String) -> Void = { _ in }
    ) async throws {
        guard let store, let entry else {
            for message in messages {
                try await send(message, to: message.recipients, through: transport, named: named)
            }
            return
        }
        let groups = messages.map(\.recipients)
        try await store.send(to: groups, of: entry, at: time, timeout: timeout, warn: warn) { index, waiting in
            try await send(messages[index], to: waiting, through: transport, named: named)
        }
    }
}
