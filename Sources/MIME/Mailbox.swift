/// One person in an address list.
public struct Mailbox: Hashable, Sendable {
    /// The name in front of the address, or the comment after it, decoded for display.
    public let displayName: String?
    /// The address.
    public let address: EmailAddress

    /// Whether the name shows an address, and one that is not this mailbox's own.
    public var displayNamePosesAsAddress: Bool {
        guard let displayName else { return false }
        let ats: Set<Unicode.Scalar> = ["@", "\u{FE6B}", "\u{FF20}"]
        let words = displayName.unicodeScalars.split {
            $0.properties.isWhitespace || "\"'<>()[],;:".unicodeScalars.contains($0)
        }
        return words.contains { word in
            guard let at = word.firstIndex(where: ats.contains), at > word.startIndex,
                word.index(after: at) < word.endIndex
            else { return false }
            return (try? EmailAddress(String(word))) != address
        }
    }
}
