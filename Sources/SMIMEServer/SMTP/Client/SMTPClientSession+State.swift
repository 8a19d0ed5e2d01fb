import NIOCore

extension SMTPClientSession {
    /// What is waited for.
    enum State: Sendable {
        case greeting
        /// The reply to EHLO, or to HELO.
        case hello(isExtended: Bool)
        case ready
        /// Replies to XFORWARD, MAIL and RCPT.
        case envelope
        /// The reply to DATA.
        case data
        /// The caller, which sends the content.
        case content
        /// The reply to the message.
        case outcome
        case reset
        case quit
        case closed
    }

    /// A transaction under way.
    struct Delivery: Sendable {
        let transaction: SMTPTransaction
        /// The commands before those for the recipients: XFORWARD, and MAIL as the last.
        let commands: [String]
        /// Whether the parameters of RFC 3461 are passed on.
        let passesNotification: Bool
        /// Commands that were sent, and those that were answered.
        var sent = 0
        var answered = 0
        var isSenderRefused = false
        var refusals: [SMTPRefusal] = []
        var framing = Framing.stuffed(DotStuffing())
        /// Bytes of content that were given to be sent.
        var contentSize = 0

        /// How many commands there are.
        var count: Int { commands.count + transaction.envelope.recipients.count }

        /// The command at a place, with its end.
        func command(_ index: Int) -> String {
            guard index >= commands.count else { return commands[index] }
            let recipient = transaction.envelope.recipients[index - commands.count]
            let parameters = recipient.parameters.filter { _ in passesNotification }.map { " \($0.text)" }
            return "RCPT TO:<\(recipient.address)>\(parameters.joined())\r\n"
        }

        /// Remembers a refusal: not more than are told, and those with 5xx first.
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
        /// DATA
        case stuffed(DotStuffing)
        /// BDAT, with what watches the line ends.
        case counted(SMTPContentDecoder)
    }
}
