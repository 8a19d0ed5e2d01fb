import Foundation

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
