package import ByteStreams
import Foundation

/// Takes finished messages off our hands.
package protocol MailTransport: Sendable {
    /// Sends a message; it is the transport's when this returns, and not at all when this throws.
    ///
    /// - Parameter sender: the envelope sender; empty for the null sender.
    /// - Returns: what the transport calls the message from now on, such as a mail server's next queue id; nil if it
    ///   does not say.
    func send(
        _ content: any ByteSource,
        from sender: String,
        to recipients: [String]
    ) async throws(TransportError) -> String?
}

/// Why a transport did not take a message.
package struct TransportError: Error, Equatable, Sendable {
    /// The transport's message, or how it ended.
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

extension TransportError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { reason }
}
