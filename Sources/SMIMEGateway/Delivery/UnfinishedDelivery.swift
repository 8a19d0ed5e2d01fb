import Foundation

/// Some recipients got their message, and others did not: another attempt with the whole mail would send it to the first ones twice.
package struct UnfinishedDelivery: Error, Sendable {
    /// Who got theirs, as the envelope names them.
    package let served: [String]
    /// Who did not.
    package let unserved: [String]
    /// Why the first of these did not.
    package let reason: TransportError
}

extension UnfinishedDelivery: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String {
        "sent to \(served.joined(separator: ", ")), but not to \(unserved.joined(separator: ", ")): \(reason)"
    }
}

extension Delivery {
    /// Sends the messages in order without a journal, so that a later attempt cannot continue.
    ///
    /// A failure before anything was sent stops it, and the whole can be tried again. After a success, failures do not stop it.
    ///
    /// - Throws: `TransportError` if nothing was sent; `UnfinishedDelivery` if something was, but not all.
    package func runOnce(through transport: any MailTransport) async throws {
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
