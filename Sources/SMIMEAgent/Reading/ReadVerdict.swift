/// The verdict on a message or a part of it, shown above its text.
package struct ReadVerdict: Sendable {
    /// How far a reader may rely on the message; chooses a color.
    package enum Tone: String, Sendable {
        case bad, good, neutral
    }

    package let tone: Tone
    /// Whether a valid signature covers the message or part.
    package let isSigned: Bool
    /// One sentence without a full stop; it may contain names from the mail.
    package let sentence: String
    /// Further remarks for the reader, each a sentence.
    package let remarks: [String]

    /// - Parameter isSigned: nil means that exactly a good verdict is that on a valid signature.
    package init(_ tone: Tone, _ sentence: String, isSigned: Bool? = nil, remarks: [String] = []) {
        self.tone = tone
        self.isSigned = isSigned ?? (tone == .good)
        self.sentence = sentence
        self.remarks = remarks
    }
}
