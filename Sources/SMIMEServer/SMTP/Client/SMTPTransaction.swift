/// A message for the next hop, without its content.
package struct SMTPTransaction: Sendable {
    /// What is known of the content before it is sent.
    package struct Content: Sendable, Hashable {
        /// Bytes, before dots are stuffed. BDAT needs it exactly.
        package var size: Int
        /// Whether a byte above 127 is in it.
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

/// What the next hop, or our own side for it, did not take, and why.
package struct SMTPRefusal: Sendable, Hashable {
    /// What was refused.
    package enum Subject: Sendable, Hashable {
        /// The sender, or the message before its content was sent.
        case sender
        /// A recipient, by its place in the envelope.
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
    /// What became of the message in flight.
    package enum Outcome: Sendable, Hashable {
        /// There was none, or the outcome was told before.
        case noMessage
        /// It was not taken: it can be sent anew over another connection.
        case notTaken
        /// Its end was sent and no reply came: the hop may have it (RFC 1047).
        case unknown
    }

    package let outcome: Outcome
    /// Why, for a log; what the hop said if it said anything.
    package let reason: String

    package init(_ outcome: Outcome, _ reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}
