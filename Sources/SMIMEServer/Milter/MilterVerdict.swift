/// The decision on a complete message.
package enum MilterVerdict: Hashable, Sendable {
    /// The message is accepted unchanged.
    case accept
    /// The mail server accepts the message and drops it, because every recipient gets a copy in another way.
    case discard
    /// The mail server refuses the message.
    case refuse(MilterRefusal)
    /// The message is accepted and replaced.
    case replace(MilterReplacement)
}

/// The reply with which a mail server refuses a message.
package struct MilterRefusal: Hashable, Sendable {
    /// The reply code, 400 to 599.
    package let code: Int
    /// The enhanced status code, such as `5.7.1`.
    ///
    /// RFC 3463
    package let status: String
    /// The text for the sender. A line feed begins a new line of the reply.
    package let text: String

    /// The refusal of a message whose outcome is unknown.
    static let undetermined = MilterRefusal(temporary: "4.3.0", "the message could not be handled now; try again later")

    private init(temporary status: String, _ text: String) { (code, self.status, self.text) = (451, status, text) }

    /// - Returns: nil if a code is malformed or the two codes differ in their class. Mail servers would treat such a reply as
    ///   an error of the milter.
    package init?(code: Int, status: String, text: String) {
        let numbers = status.split(separator: ".", omittingEmptySubsequences: false)
        guard (400...599).contains(code), numbers.count == 3, numbers[0] == "\(code / 100)",
            numbers.allSatisfy({ (1...3).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
        else { return nil }
        self.code = code
        self.status = status
        self.text = text
    }
}

/// The message that replaces the received one.
package struct MilterReplacement: Hashable, Sendable {
    /// The source of the body.
    package enum Body: Hashable, Sendable {
        /// The received body is kept.
        case unchanged
        /// A new body follows: the caller passes it to `MilterSession.replaceBody` and `finishBody`.
        case follows
    }

    /// The new header. Every field has its line end; the empty line at the end is optional.
    package var header: [UInt8]
    package var body: Body
    /// The indices in `MilterEnvelope.recipients` of the recipients who get no copy of this message. A mail server removes
    /// all duplicates of an address together.
    package var removedRecipients: [Int]
    /// The new sender with its ESMTP parameters; nil keeps the old one. Postfix ignores the parameters.
    package var sender: MilterAddress?

    package init(header: [UInt8], body: Body, removing removed: [Int] = [], sender: MilterAddress? = nil) {
        self.header = header
        self.body = body
        removedRecipients = removed
        self.sender = sender
    }
}
