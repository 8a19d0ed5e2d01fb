import NIOCore

extension SMTPClientSession {
    /// The reply or content that the session waits for.
    enum State: Sendable {
        case greeting
        /// The reply to EHLO, or to HELO.
        case hello(isExtended: Bool)
        case ready
        /// Replies to XFORWARD, MAIL and RCPT.
        case envelope
        /// The reply to DATA.
        case data
        /// Content from the caller.
        case content
        /// The reply to the message.
        case outcome
        case reset
        case quit
        case closed
    }

    /// The progress of the transaction that is being sent.
    struct TransactionProgress: Sendable {
        let transaction: SMTPTransaction
        /// The commands before those for the recipients: XFORWARD, and MAIL as the last.
        let commands: [String]
        /// Whether the parameters of RFC 3461 are sent.
        let passesNotification: Bool
        /// How many commands were sent.
        var sent = 0
        /// How many of the sent commands were answered.
        var answered = 0
        var isSenderRefused = false
        var refusals: [SMTPRefusal] = []
        var framing = Framing.stuffed(DotStuffing())
        /// Bytes of content passed to ``send(_:)``.
        var contentSize = 0

        /// The number of commands.
        var count: Int { commands.count + transaction.envelope.recipients.count }

        /// The command at an index, with CRLF.
        func command(_ index: Int) -> String {
            guard index >= commands.count else { return commands[index] }
            let recipient = transaction.envelope.recipients[index - commands.count]
            let parameters = recipient.parameters.filter { _ in passesNotification }.map { " \($0.text)" }
            return "RCPT TO:<\(recipient.address)>\(parameters.joined())\r\n"
        }

        /// Stores a refusal, up to the number that is reported. Refusals with 5xx come first.
        mutating func note(_ refusal: SMTPRefusal) {
            let isPermanent = refusal.reply.isPermanent
            let place =
                isPermanent ? refusals.firstIndex { !$0.reply.isPermanent } ?? refusals.endIndex : refusals.endIndex
            refusals.insert(refusal, at: place)
            if refusals.count > maximumRefusals { refusals.removeLast() }
        }
    }

    /// How the content is sent.
    enum Framing: Sendable {
        /// The content is sent with DATA.
        case stuffed(DotStuffing)
        /// The content is sent with BDAT; the decoder checks line ends.
        case counted(SMTPContentDecoder)
    }
}
