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

/// A message for the next hop, without its content.
package struct SMTPTransaction: Sendable {
    /// The properties of the content that must be known before it is sent.
    package struct Content: Sendable, Hashable {
        /// The size in bytes, before dots are doubled. BDAT requires the exact number.
        package var size: Int
        /// Whether the content contains a byte above 127.
        package var isEightBit: Bool

        package init(size: Int, isEightBit: Bool) {
            self.size = size
            self.isEightBit = isEightBit
        }
    }

    /// Sender, recipients, and their parameters as the client gave them. SIZE, BODY=8BITMIME and SMTPUTF8 are sent as
    /// `content` and the addresses require. RET, ENVID, NOTIFY and ORCPT are omitted if the next hop does not announce DSN.
    package var envelope: SMTPEnvelope
    package var content: Content
    /// Whether only MAIL and RCPT are sent, and no content follows.
    package var isProbe: Bool

    package init(_ envelope: SMTPEnvelope, content: Content, isProbe: Bool = false) {
        self.envelope = envelope
        self.content = content
        self.isProbe = isProbe
    }
}

/// A refusal by the next hop, or by this client instead of the next hop.
package struct SMTPRefusal: Sendable, Hashable {
    /// The refused part.
    package enum Subject: Sendable, Hashable {
        /// The sender, or the message before its content was sent.
        case sender
        /// A recipient, by its index in the envelope.
        case recipient(Int)
        /// The content, or the message after it.
        case content
    }

    package let subject: Subject
    /// The reply with 4xx or 5xx.
    package let reply: SMTPReply

    package init(_ subject: Subject, _ reply: SMTPReply) {
        self.subject = subject
        self.reply = reply
    }
}

/// The reason that a connection to the next hop cannot be used any more.
package struct SMTPConnectionFailure: Sendable, Hashable {
    /// The outcome for the current message.
    package enum Outcome: Sendable, Hashable {
        /// There was no message, or its outcome is already known.
        case noMessage
        /// The message was not accepted. It can be sent again over another connection.
        case notTaken
        /// The end of the message was sent and no reply arrived, so the next hop may have accepted the message (RFC 1047).
        case unknown
    }

    package let outcome: Outcome
    /// The reason for the log: the reply of the next hop, if there was one.
    package let reason: String

    package init(_ outcome: Outcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}
