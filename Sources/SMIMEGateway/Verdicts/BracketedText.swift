/// Text beside a bracket in a subject, read for what people may take for a tag of ours.
///
/// The rule: text in brackets is taken for a tag if
/// - it begins with words of our tags that say that mail is signed or encrypted, or how a signature is, and then it ends, or
///   a mark follows (a colon, a comma, a bracket of another kind), or `by` or `with`; or
/// - it holds an address, and one of these words beside it.
///
/// Marks in front do not count. A hyphen, dot, apostrophe, plus or low line between two letters is no mark.
/// So `[signed bob@example.com]`, `[*signed: Bob*]` and `[encrypted, signed]` are taken for tags; `[signed-off] patch`,
/// `[signed copy]`, `[not signed]`, `[encrypted-mail-list]` and `[list] signed contract` are not. A bracket may be missing on one
/// side; then the first kind alone is a tag, or such words right in front of an address.
struct BracketedText {
    /// Letters and digits in a row.
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

    /// Whether the text, with brackets on both sides, is taken for a tag.
    var isTag: Bool { beginsLikeTag || namesAddress }

    /// Whether the text counts as a tag although only the closing bracket is there.
    var isUnopenedTag: Bool { beginsLikeTag }

    /// How many characters of the text, with a bracket in front of it alone, are taken for a tag; nil if none are.
    var unclosedTagCount: Int? {
        guard let opening else { return nil }
        guard opening.count < pieces.count else { return glyphs.count }
        let next = pieces[opening.count].range.lowerBound
        // The removed text includes the address after it.
        if let address = addresses.first(where: { $0.contains(next) }) { return address.upperBound }
        return beginsLikeTag ? next : nil
    }

    /// Whether the text begins with words of our tags, followed by an end of the tag.
    private var beginsLikeTag: Bool {
        guard let opening else { return false }
        guard opening.count < pieces.count, !["by", "signedby", "with"].contains(opening.last) else { return true }
        let end = pieces[opening.count - 1].range.upperBound
        let gap = glyphs[end..<pieces[opening.count].range.lowerBound]
        let isJoint = gap.count == 1 && gap.allSatisfy(Self.joints.contains) || addresses.contains { $0.contains(end) }
        return !isJoint && !gap.allSatisfy(\.isWhitespace)
    }

    /// How many of the first pieces form words of a verdict, and the last of these words; nil if they form none.
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

    /// Whether it contains an address, and one of our words beside the address or at its beginning, as in
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

    /// The word of ours that the pieces from `index` on make, however it is divided, and how many they are.
    private func word(at index: Int) -> (word: String, count: Int)? {
        var letters = ""
        for (number, piece) in pieces[index...].prefix(Self.longestWord).enumerated() {
            letters += piece.letters
            guard letters.count <= Self.longestWord else { return nil }
            let seen = ConfusableWord.folded(letters)
            if let word = Self.vocabulary[seen] { return (word, number + 1) }
            guard ConfusableWord.mayBeTaken(seen) else { continue }
            let alike = Self.vocabularyByLength[seen.count]?.first { ConfusableWord.isTaken(seen, for: $0.key) }
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

    /// The text around each `@`.
    private static func addresses(in glyphs: [Character]) -> [Range<Int>] {
        glyphs.indices.filter { glyphs[$0] == "@" }.compactMap { at in
            let local = glyphs[..<at].reversed().prefix { isWordCharacter($0) || "._%+=-".contains($0) }.count
            let domain = glyphs[(at + 1)...].prefix { isWordCharacter($0) || ".-_".contains($0) }.count
            return local > 0 && domain > 0 ? at - local..<at + 1 + domain : nil
        }
    }

    private static func isWordCharacter(_ character: Character) -> Bool { character.isLetter || character.isNumber }

    /// Characters that join two words between letters.
    private static let joints: Set<Character> = ["-", ".", "'", "’", "+", "_"]

    /// Words that by themselves say something about a message.
    private static let claims: Set = ["encrypted", "signed", "signedby"]
    /// Words of which something must be said.
    private static let subjects: Set = ["signature", "smime"]
    /// Words that say something beside an address.
    private static let addressed: Set = claims.union(subjects).union(["verified"])
    /// The words of our tags about signatures, and synonyms.
    private static let verdicts: Set = [
        "authentic", "checked", "confirmed", "correct", "doubtful", "expired", "genuine", "good", "invalid", "ok",
        "okay",
        "pass", "passed", "revoked", "trusted", "untrusted", "valid", "verified", "weak",
    ]
    /// Words that may stand beside them and change little.
    private static let fillers: Set = [
        "and", "another", "by", "digitally", "email", "fully", "is", "mail", "message", "not", "partly", "sender",
        "was", "with",
        "yet",
    ]
    private static let longestWord = 14
    /// All these words, by what `ConfusableWord.folded` makes of them.
    private static let vocabulary: [String: String] = Dictionary(
        claims.union(subjects).union(verdicts).union(fillers).map { (ConfusableWord.folded($0), $0) },
        uniquingKeysWith: { first, _ in first }
    )
    /// The same by the number of letters, for words that only look like one.
    private static let vocabularyByLength = Dictionary(grouping: vocabulary) { $0.key.count }
}
