/// Sends messages, for example through SMTP. `SendmailTransport` uses the sendmail program of the host's mail server.
public protocol MailTransport: Sendable {
    /// Sends one message to its recipients.
    ///
    /// When this returns, the transport is responsible for the message. When this throws, it has not accepted the message for
    /// any recipient.
    func send(_ delivery: Gateway.Delivery) async throws
}

extension SendmailTransport: MailTransport {
    /// Passes the message to the program on standard input, and waits for the program to end.
    ///
    /// - Throws: `SMIMEError` `.transport`, even if the program succeeds but has not read the whole message; errors of writing
    ///   the message.
    public func send(_ delivery: Gateway.Delivery) async throws {
        try await SMIMEError.inBackground {
            let content = try delivery.message.settledMessage().source
            _ = try await send(content, from: delivery.sender, to: delivery.recipients)
        }
    }
}
