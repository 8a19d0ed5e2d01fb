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
        var transaction: SMTPTransaction
    }
}
