package import ByteStreams
import Foundation

/// Takes finished messages off our hands.
package protocol MailTransport: Sendable {
    /// Sends a message. When this returns, the transport is responsible for it; when this throws, the transport has not taken it.
    ///
    /// - Parameter sender: the envelope sender; empty for the null sender.
    /// - Returns: the transport's name for the message, such as the next queue id; nil if it reports none.
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
