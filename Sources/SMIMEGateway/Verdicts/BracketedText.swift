/// Text beside a bracket in a subject. Determines whether people may mistake the text for a tag of this filter.
///
/// Text in brackets can be mistaken for a tag in two cases:
/// 1. The text begins with tag words that say that mail is signed or encrypted, or describe the signature. After these
///    words the text ends, or a mark follows (a colon, a comma, a bracket of another kind), or the word `by` or `with`.
/// 2. The text contains an address and one of these words.
///
/// Marks before the text are ignored. A hyphen, dot, apostrophe, plus or underscore between two letters is not a mark. So
/// `[signed bob@example.com]`, `[*signed: Bob*]` and `[encrypted, signed]` are tags; `[signed-off] patch`, `[signed copy]`,
/// `[not signed]`, `[encrypted-mail-list]` and `[list] signed contract` are not. If the opening bracket is missing, only the
/// first case is a tag. If the closing bracket is missing, such words directly before an address are a tag, too.
struct BracketedText {
    /// A sequence of letters and digits.
    private struct Piece {
        let letters: String
        let range: Range<Int>
    }

    private let glyphs: [Character]
    private let pieces: [Piece]
    /// The ranges of addresses in `glyphs`.
    private let addresses: [Range<Int>]

    init(_ text: ArraySlice<SubjectSkeleton.Glyph>) {
        glyphs = text.map(\.character)
        pieces = Self.pieces(of: glyphs)
        addresses = Self.addresses(in: glyphs)
    }

    /// Whether the text, with brackets on both sides, can be mistaken for a tag.
    var isTag: Bool { beginsLikeTag || namesAddress }

    /// Whether the text is a tag even if only the closing bracket exists.
    var isUnopenedTag: Bool { beginsLikeTag }

    /// If only the opening bracket exists: the number of characters after it that can be mistaken for a tag; nil if there
    /// are none.
    var unclosedTagCount: Int? {
        guard let opening else { return nil }
        guard opening.count < pieces.count else { return glyphs.count }
        let next = pieces[opening.count].range.lowerBound
        // The address that follows the words is removed as well.
        if let address = addresses.first(where: { $0.contains(next) }) { return address.upperBound }
        return beginsLikeTag ? next : nil
    }

    /// Whether the text begins with tag words, and the tag ends after them.
    private var beginsLikeTag: Bool {
        guard let opening else { return false }
        guard opening.count < pieces.count, !["by", "signedby", "with"].contains(opening.last) else { return true }
        let end = pieces[opening.count - 1].range.upperBound
        let gap = glyphs[end..<pieces[opening.count].range.lowerBound]
        let isJoint = gap.count == 1 && gap.allSatisfy(Self.joints.contains) || addresses.contains { $0.contains(end) }
        return !isJoint && !gap.allSatisfy(\.isWhitespace)
    }

    /// The number of pieces at the beginning that form tag words, and the last of these words; nil if they form none.
    private var opening: (count: Int, last: String)? {
        var index = 0
        var words: [String] = []
        while index < pieces.count, let (word, count) = word(at: index), word != "not" || !words.isEmpty {
            words.append(word)
            index += count
        }
        let all = Set(words)
        let isClaim =
            !all.isDisjoint(with: Self.claims)
            || !all.isDisjoint(with: Self.subjects) && !all.isDisjoint(with: Self.verdicts)
        guard isClaim, let last = words.last else { return nil }
        return (index, last)
    }

    /// Whether the text contains an address and a tag word, which may be at the beginning of the address, as in
    /// `signed+bob@example.com`.
    private var namesAddress: Bool {
        guard !addresses.isEmpty else { return false }
        return pieces.indices.contains { index in
            guard let (word, count) = word(at: index), Self.addressed.contains(word) else {
                return false
            }
            let start = pieces[index].range.lowerBound
            let end = pieces[index + count - 1].range.upperBound
            guard let address = addresses.first(where: { $0.contains(start) }) else { return true }
            return address.lowerBound == start && word == "signed" && end < address.upperBound && glyphs[end] != "@"
        }
    }

    /// The tag word that the pieces from `index` on form, even if it is divided, and the number of these pieces; nil if
    /// there is none.
    private func word(at index: Int) -> (word: String, count: Int)? {
        var letters = ""
        for (number, piece) in pieces[index...].prefix(Self.longestWord).enumerated() {
            letters += piece.letters
            guard letters.count <= Self.longestWord else { return nil }
            let seen = ConfusableWord.folded(letters)
            if let word = Self.vocabulary[seen] { return (word, number + 1) }
            guard ConfusableWord.mayBeConfusable(seen) else { continue }
            let alike = Self.vocabularyByLength[seen.count]?.first { ConfusableWord.isConfusable(seen, with: $0.key) }
            if let word = alike?.value { return (word, number + 1) }
        }
        return nil
    }

    private static func pieces(of glyphs: [Character]) -> [Piece] {
        var pieces: [Piece] = []
        var start = 0
        while let first = glyphs[start...].firstIndex(where: isWordCharacter) {
            let end = glyphs[first...].firstIndex { !isWordCharacter($0) } ?? glyphs.count
            pieces.append(Piece(letters: String(glyphs[first..<end]), range: first..<end))
            start = end
        }
        return pieces
    }

    /// The ranges of text around each `@`.
    private static func addresses(in glyphs: [Character]) -> [Range<Int>] {
        glyphs.indices.filter { glyphs[$0] == "@" }.compactMap { at in
            let local = glyphs[..<at].reversed().prefix { isWordCharacter($0) || "._%+=-".contains($0) }.count
            let domain = glyphs[(at + 1)...].prefix { isWordCharacter($0) || ".-_".contains($0) }.count
            return local > 0 && domain > 0 ? at - local..<at + 1 + domain : nil
        }
    }

    private static func isWordCharacter(_ character: Character) -> Bool { character.isLetter || character.isNumber }

    /// Characters that join two words when they are between letters.
    private static let joints: Set<Character> = ["-", ".", "'", "’", "+", "_"]

    /// The words that by themselves describe a message as signed or encrypted.
    private static let claims: Set = ["encrypted", "signed", "signedby"]
    /// The words that form a claim together with one of `verdicts`.
    private static let subjects: Set = ["signature", "smime"]
    /// The words that form a claim together with an address.
    private static let addressed: Set = claims.union(subjects).union(["verified"])
    /// The words with which tags describe signatures, and synonyms.
    private static let verdicts: Set = [
        "authentic", "checked", "confirmed", "correct", "doubtful", "expired", "genuine", "good", "invalid", "ok",
        "okay",
        "pass", "passed", "revoked", "trusted", "untrusted", "valid", "verified", "weak",
    ]
    /// The words that may accompany the others without changing their meaning much.
    private static let fillers: Set = [
        "and", "another", "by", "digitally", "email", "fully", "is", "mail", "message", "not", "partly", "sender",
        "was", "with",
        "yet",
    ]
    private static let longestWord = 14
    /// All these words, with their form in `ConfusableWord.folded` as the key.
    private static let vocabulary: [String: String] = Dictionary(
        claims.union(subjects).union(verdicts).union(fillers).map { (ConfusableWord.folded($0), $0) },
        uniquingKeysWith: { first, _ in first }
    )
    /// The vocabulary grouped by length, for recognizing words that only resemble a word in the vocabulary.
    private static let vocabularyByLength = Dictionary(grouping: vocabulary) { $0.key.count }
}
