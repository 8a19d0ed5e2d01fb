/// What becomes of a message whose end has come.
package enum MilterVerdict: Hashable, Sendable {
    /// The message goes on unchanged.
    case accept
    /// The mail server takes the message and drops it: every recipient gets a copy another way.
    case discard
    /// The mail server refuses the message.
    case refuse(MilterRefusal)
    /// The message goes on as another one.
    case replace(MilterReplacement)
}

/// The reply with which a mail server refuses a message.
package struct MilterRefusal: Hashable, Sendable {
    /// 400 to 599.
    package let code: Int
    /// The enhanced status code: `5.7.1`.
    ///
    /// RFC 3463
    package let status: String
    /// What the sender reads; a line feed begins another line of the reply.
    package let text: String

    /// For a message of which it is not known what became of it.
    static let undetermined = MilterRefusal(temporary: "4.3.0", "the message could not be handled now; try again later")

    private init(temporary status: String, _ text: String) { (code, self.status, self.text) = (451, status, text) }

    /// - Returns: nil for codes that are none, or of different classes: mail servers take such a reply for a broken milter.
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

/// One form of a message in place of the one that came.
package struct MilterReplacement: Hashable, Sendable {
    /// What becomes of the body.
    package enum Body: Hashable, Sendable {
        /// It stays as it came.
        case unchanged
        /// It comes with `MilterSession.replaceBody` and `finishBody`.
        case follows
    }

    /// The new header, every field with its line end; an empty line at the end may be there or not.
    package var header: [UInt8]
    package var body: Body
    /// The recipients, by their places in `MilterEnvelope.recipients`, who get no copy of this form. A mail server removes an address
    /// with all its duplicates.
    package var removedRecipients: [Int]
    /// The new sender with its ESMTP parameters; nil leaves the old one. Postfix ignores the parameters.
    package var sender: MilterAddress?

    package init(header: [UInt8], body: Body, removing removed: [Int] = [], sender: MilterAddress? = nil) {
        self.header = header
        self.body = body
        removedRecipients = removed
        self.sender = sender
    }
}
