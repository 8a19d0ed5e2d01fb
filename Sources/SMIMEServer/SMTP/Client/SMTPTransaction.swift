/// A message for the next hop, without its content.
package struct SMTPTransaction: Sendable {
    /// What is known about the content before it is sent.
    package struct Content: Sendable, Hashable {
        /// The size in bytes, before dots are stuffed. BDAT needs the exact number.
        package var size: Int
        /// Whether it contains a byte above 127.
        package var isEightBit: Bool

        package init(size: Int, isEightBit: Bool) {
            self.size = size
            self.isEightBit = isEightBit
        }
    }

    /// Sender, recipients, and their parameters as the client gave them. SIZE is replaced by the size of `content`; a parameter of an
    /// extension that the hop does not announce is left out.
    package var envelope: SMTPEnvelope
    package var content: Content
    /// Whether only MAIL and RCPT are tried and no content follows.
    package var isProbe: Bool

    package init(_ envelope: SMTPEnvelope, content: Content, isProbe: Bool = false) {
        self.envelope = envelope
        self.content = content
        self.isProbe = isProbe
    }
}

/// A refusal by the next hop, or by this side on its behalf.
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
    /// 4xx or 5xx.
    package let reply: SMTPReply

    package init(_ subject: Subject, _ reply: SMTPReply) {
        self.subject = subject
        self.reply = reply
    }
}

/// Why a connection to the next hop cannot be used any more.
package struct SMTPConnectionFailure: Sendable, Hashable {
    /// The outcome for the message in flight.
    package enum Outcome: Sendable, Hashable {
        /// There was none, or its outcome is already known.
        case noMessage
        /// It was not accepted: it can be sent again over another connection.
        case notTaken
        /// Its end was sent and no reply came: the hop may have it (RFC 1047).
        case unknown
    }

    package let outcome: Outcome
    /// The reason for a log: the hop's reply, if there was one.
    package let reason: String

    package init(_ outcome: Outcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}
