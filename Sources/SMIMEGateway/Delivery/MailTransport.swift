package import ByteStreams
import Foundation

/// Takes finished messages off our hands.
package protocol MailTransport: Sendable {
    /// Sends the message in `file`; it is the transport's when this returns, and not at all when this throws.
    func send(_ file: SpooledFile, from sender: String, to recipients: [String]) throws(TransportError)

    /// The same, and what the transport calls the message from now on, such as a mail server's next queue id; nil if it does
    /// not say. By default it does not.
    func sendAndName(_ file: SpooledFile, from sender: String, to recipients: [String]) throws(TransportError)
        -> String?
}

extension MailTransport {
    /// Sends the message; it gets no name.
    package func sendAndName(
        _ file: SpooledFile,
        from sender: String,
        to recipients: [String]
    ) throws(TransportError) -> String? {
        try send(file, from: sender, to: recipients)
        return nil
    }
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
