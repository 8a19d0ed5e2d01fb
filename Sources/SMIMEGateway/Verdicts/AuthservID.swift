import Foundation

/// The authserv-id of an Authentication-Results field, as people and lenient programs may read it.
///
/// RFC 8601 §2.2, §2.5
struct AuthservID {
    /// The words before the first semicolon as they appear to people, without comments and quotes.
    let words: [String]
    /// The words of the whole field value; empty if `isPlain`.
    let allWords: [String]
    /// Whether the words before the semicolon consist of a name and perhaps a version, as the syntax requires.
    let isPlain: Bool
    /// Whether the named author cannot be determined: there is no name, a comment or quoted string is not closed, or there
    /// are too many words.
    let isUnreadable: Bool
    /// Whether a result (`method=`) is where the syntax requires the name.
    let isNameless: Bool
    /// Whether only the beginning of the value was examined.
    let isCut: Bool

    /// The maximum number of words to examine.
    private static let maximumCount = 64
    /// The maximum number of words of the whole value to examine.
    private static let maximumTotal = 512
    /// The maximum length to examine, in characters. Genuine fields have the name at the start.
    private static let maximumLength = 4_096

    /// Reads the value of a field.
    init(_ value: String) {
        let scalars = Array(value.unicodeScalars.prefix(Self.maximumLength))
        let characters = Self.seen(scalars)
        let (head, isEnded) = Self.head(of: characters, isWhole: scalars.count < Self.maximumLength)
        words = Self.words(of: head)
        let isVersion = words.dropFirst().allSatisfy { $0.allSatisfy(\.isNumber) }
        let hasOnlyNames = head.allSatisfy { Self.isNameCharacter($0) || $0.isWhitespace || $0 == "/" }
        isPlain = words.count <= 2 && isVersion && hasOnlyNames
        isUnreadable = !isEnded || words.isEmpty || words.count > Self.maximumCount
        allWords = isPlain ? [] : Array(Self.words(of: characters[...]).prefix(Self.maximumTotal))
        let start = head.prefix { $0 != "=" }
        // A method may have a version, as a name may.
        let isMethod = Self.words(of: start).dropFirst().allSatisfy { $0.allSatisfy(\.isNumber) }
        isNameless = start.count < head.count && isMethod
        isCut = scalars.count >= Self.maximumLength || allWords.count >= Self.maximumTotal
    }

    /// The part of `value` that is examined.
    static func beginning(of value: String) -> String {
        String(String.UnicodeScalarView(value.unicodeScalars.prefix(maximumLength)))
    }

    /// The words before the first semicolon with their accents: international names are compared as in IDNA (RFC 5891 §5).
    static func internationalWords(of value: String) -> [String] {
        let text = value.precomposedStringWithCompatibilityMapping.replacing("\u{3002}", with: ".")
        return Array(words(of: head(of: Array(text), isWhole: true).head).prefix(maximumCount))
    }

    /// The characters as they appear to people. Invisible characters become blanks. So do characters that resemble comment,
    /// quote or separator characters.
    private static func seen(_ scalars: [Unicode.Scalar]) -> [Character] {
        var characters: [Character] = []
        var next = 0
        for glyph in SubjectSkeleton(scalars).glyphs {
            if glyph.place > next { characters.append(" ") }
            let isImitation = !scalars[glyph.place].isASCII && "();\"\\".contains(glyph.character)
            characters.append(isImitation ? " " : glyph.character)
            next = glyph.place + 1
        }
        return characters
    }

    /// The text before the first semicolon, with blanks instead of comments and quotes; and whether it ends properly, at a
    /// semicolon or at the end of the value, and not inside a comment or quoted string.
    ///
    /// RFC 5322 §3.2
    private static func head(
        of characters: [Character],
        isWhole: Bool
    ) -> (head: ArraySlice<Character>, isEnded: Bool) {
        var head: [Character] = []
        var (depth, isQuoted, isEscaped) = (0, false, false)
        for character in characters {
            if isEscaped {
                if depth == 0 { head.append(character) }
                isEscaped = false
            } else if character == "\\", isQuoted || depth > 0 {
                isEscaped = true
            } else if character == "\"", depth == 0 {
                isQuoted.toggle()
                head.append(" ")
            } else if isQuoted {
                head.append(character)
            } else if character == "(" {
                depth += 1
            } else if depth > 0 {
                if character == ")" { depth -= 1 }
                if depth == 0 { head.append(" ") }
            } else if character == ";" {
                return (head[...], true)
            } else {
                head.append(character)
            }
        }
        return (head[...], isWhole && !isQuoted && depth == 0 && !isEscaped)
    }

    private static func words(of text: ArraySlice<Character>) -> [String] {
        text.split { !isNameCharacter($0) }.map { String($0) }
    }

    private static func isNameCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "." || character == "-" || character == "_"
    }
}
