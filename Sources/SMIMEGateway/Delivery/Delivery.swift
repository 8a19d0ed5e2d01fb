package import ByteStreams
package import Foundation
package import SMIMEStore

/// The finished messages that result from one mail, ready to be sent.
///
/// Only the transport and the journal can still fail. If there is a journal, the recipients of each message are
/// recorded in it before the next message is sent.
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

    /// Sends the messages in order. With a journal, sends only to recipients who are not recorded in it, and waits while
    /// another process sends the same mail.
    ///
    /// - Parameters:
    ///   - entry: identifies the mail in the journal of `store`; nil if there is no journal.
    ///   - timeout: how many times to retry recording, once a second, for example while another process uses the database.
    ///     A write error, such as a full disk, is not retried.
    ///   - named: called with the transport's name for each message, if it reports one.
    ///   - warn: called if some recipients could not be recorded.
    /// - Throws: `TransportError`, `KeystoreError`, `CancellationError`. The messages that were sent are recorded in the
    ///   journal, if there is one.
    package func run(
        through transport: any ContentTransport,
        rememberingIn store: Store?,
        as entry: DeliveryJournal.Entry?,
        at time: Date,
        timeout: Int = 60,
        named: @escaping @Sendable (String) -> Void = { _ in },
        warn: @escaping @Sendable (String) -> Void = { _ in }
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

/// Sends finished messages as bytes, whether they are well-formed mail or not.
package protocol ContentTransport: Sendable {
    /// Sends a message. When this returns, the transport is responsible for the message. When this throws, the transport
    /// has not accepted it.
    ///
    /// - Parameter sender: the envelope sender; empty for the null sender.
    /// - Returns: the transport's name for the message, such as the next hop's queue ID; nil if it reports none.
    func send(
        _ content: any ByteSource,
        from sender: String,
        to recipients: [String]
    ) async throws(TransportError) -> String?
}

/// The error if some recipients received their message and others did not. Sending the whole mail again would give the
/// first recipients a second copy.
package struct UnfinishedDelivery: Error, Sendable {
    /// The recipients who received their message, as in the envelope.
    package let served: [String]
    /// The recipients who did not receive their message, as in the envelope.
    package let unserved: [String]
    /// Why the first failed message was not accepted.
    package let reason: TransportError
}

extension UnfinishedDelivery: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String {
        "sent to \(served.joined(separator: ", ")), but not to \(unserved.joined(separator: ", ")): \(reason)"
    }
}

extension Delivery {
    /// Sends the messages in order without a journal, so that a later attempt cannot continue the delivery.
    ///
    /// If the first message fails, nothing has been sent: the error is thrown and the delivery can be retried. After the
    /// first success, all remaining messages are attempted.
    ///
    /// - Throws: `TransportError` if nothing was sent; `UnfinishedDelivery` if some messages were sent, but not all.
    package func runOnce(through transport: any ContentTransport) async throws {
        var (served, unserved) = ([String](), [String]())
        var reason: TransportError?
        for message in messages {
            do throws(TransportError) {
                _ = try await transport.send(message.content, from: message.sender ?? sender, to: message.recipients)
                served += message.recipients
            } catch {
                guard !served.isEmpty else { throw error }
                reason = reason ?? error
                unserved += message.recipients
            }
        }
        if let reason { throw UnfinishedDelivery(served: served, unserved: unserved, reason: reason) }
    }
}
