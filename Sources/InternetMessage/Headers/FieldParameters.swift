import ByteStreams

/// The `; name=value` list of Content-Type and Content-Disposition.
///
/// Values that are divided into sections or name a character set are joined and decoded (RFC 2231). Missing quotes are
/// tolerated. If a name occurs twice, the first value is used.
///
/// RFC 2045 §5.1, RFC 2231
package struct FieldParameters: Hashable, Sendable {
    private var values: [String: String] = [:]
    /// The names that occur twice with different values, or both with and without the syntax of RFC 2231, so that other
    /// programs may use the other value.
    package private(set) var contradictions: Set<String> = []
    /// The names of parameters that other programs may read differently or not find, for one of these reasons:
    /// - The value is neither a token nor quoted, is divided into sections, names a character set, or is next to a comment.
    /// - The name occurs twice with different values.
    /// - The name also occurs in text that is skipped here, or in a name with characters that a name must not have.
    /// - The list has too many parameters.
    package private(set) var irregularities: Set<String> = []
    /// The values that are not divided into sections and name no character set, by name.
    private var plainValues: [String: String] = [:]
    /// The names in `irregularities`, except names whose only irregularity is a section 0 or a character set (RFC 2231).
    private var doubtful: Set<String> = []
    /// The names of parameters whose value is not quoted.
    private var unquoted: Set<String> = []

    /// Whether other programs may divide the list in other places, because it has comments, backslashes, or quotes outside of
    /// values.
    package private(set) var isAmbiguous = false

    /// Whether the list has an error, such as an empty element, a name or a value with characters that need quotes, or text
    /// that belongs to no parameter. After an error some programs ignore the rest of the list, or look for the next semicolon
    /// even inside quotes. A slash is permitted in a value after the boundary parameter, as in
    /// `protocol=application/pkcs7-signature`.
    package private(set) var hasErrors = false
    /// Whether a quoted value has blanks. If there are also blanks outside, or a slash without quotes, Ruby's mail library
    /// reads the list word by word.
    private(set) var hasQuotedBlank = false
    /// Whether there is a blank before a semicolon or beside an equals sign, or a slash without quotes.
    private var isLoose = false
    /// Whether a value is divided into sections or names a character set.
    private(set) var hasSections = false
    /// Whether a value has a semicolon, so that programs which divide the list at semicolons inside quotes find other
    /// parameters.
    package private(set) var hasSemicolon = false
    /// Whether the word `boundary` is in another name or in a value, where some programs find it.
    private(set) var mayHideBoundary = false

    /// The value of the parameter `name`, which must be in lower case; nil if there is none.
    package subscript(name: String) -> String? { values[name] }

    /// All values of the parameter `name`, which must be in lower case: the plain one, and the one of RFC 2231. Nil if programs
    /// may read the parameter differently for another reason, such as several sections.
    package func values(of name: String) -> [String]? {
        doubtful.contains(name) ? nil : [plainValues[name], values[name]].compactMap(\.self)
    }

    /// The names, in lower case.
    package var names: Set<String> { Set(values.keys) }

    /// Whether the value of the parameter `name`, which must be in lower case, is not quoted.
    func isUnquoted(_ name: String) -> Bool { unquoted.contains(name) }

    /// An empty list.
    init() {}

    /// Reads the rest of a field after the main value, from the first semicolon on.
    init(_ tokens: inout FieldTokens) {
        var sections: [String: [Int: Section]] = [:]
        var (skippedText, isCut, isEmpty) = (SkippedText(), false, false)
        while !tokens.isAtEnd {
            let isBehindBlank = tokens.next?.isBlank == true
            tokens.skipBlanksAndComments()
            guard !tokens.take(";") else {
                if isBehindBlank { isLoose = true }
                // Only after the last semicolon may the parameter be missing.
                if isEmpty { hasErrors = true }
                isEmpty = true
                continue
            }
            isEmpty = false
            let comments = tokens.comments.count
            let written = tokens.takeToken(until: ";=(")
            let name = String(mail: written).lowercased()
            let isBeforeBlank = tokens.next?.isBlank == true
            tokens.skipBlanksAndComments()
            guard tokens.take("=") else {
                if !name.isEmpty || !tokens.isAtEnd { hasErrors = true }
                skippedText.add(written)
                if name.isEmpty, !tokens.isAtEnd, tokens.next != UInt8(ascii: ";") {
                    skippedText.add(tokens.takeAll(until: ";"))
                }
                continue
            }
            // Some programs remove non-ASCII blanks and control characters from a name.
            if !written.allSatisfy({ $0.isWordByte || $0 == UInt8(ascii: "*") }) {
                skippedText.add(written)
                skippedText.add(written.filter(\.isWordByte))
                hasErrors = true
            }
            if isBeforeBlank || tokens.next?.isBlank == true { isLoose = true }
            tokens.skipBlanksAndComments()
            let isQuoted = tokens.next == UInt8(ascii: "\"")
            let (value, isRegular, hasBlankBehind) = Self.takeValue(&tokens, &skippedText)
            if hasBlankBehind { isLoose = true }
            noteErrors(of: name, written, value, isQuoted: isQuoted, isBehindBoundary: sections["boundary"] != nil)
            if !isRegular { hasErrors = true }
            guard !name.isEmpty else { continue }
            guard sections.count < 1_000 else {
                isCut = true
                break
            }
            let section = Section(name: name, value: value)
            if section.number != -1 { irregularities.insert(section.name) }
            // Some programs know only the first section.
            let isFurther = section.number.map { $0 > 0 } ?? true
            if !isRegular || isFurther || tokens.comments.count > comments { doubtful.insert(section.name) }
            if !isQuoted { unquoted.insert(section.name) }
            guard let number = section.number else { continue }
            if let known = sections[section.name]?[number] {
                guard known.value != section.value else { continue }
                doubtful.insert(section.name)
                contradictions.insert(section.name)
            } else {
                sections[section.name, default: [:]][number] = section
            }
        }
        values = sections.mapValues(Self.joined)
        plainValues = sections.compactMapValues { $0[-1].map { String(mail: $0.value) } }
        isAmbiguous = tokens.isAmbiguous
        if isLoose, hasQuotedBlank { hasErrors = true }
        contradictions.formUnion(sections.filter { $1[-1] != nil && $1[0] != nil }.keys)
        skippedText.add(tokens.comments)
        doubtful.formUnion(isCut ? Set(values.keys) : skippedText.words.intersection(values.keys))
        irregularities.formUnion(doubtful)
    }

    /// Notes what other programs may read differently in a parameter, whose name is `written` in the field.
    private mutating func noteErrors(
        of name: String,
        _ written: [UInt8],
        _ value: [UInt8],
        isQuoted: Bool,
        isBehindBoundary: Bool
    ) {
        if written.first.map({ $0.isWordByte && $0 != 0x2D && $0 != 0x5F }) != true { hasErrors = true }
        if value.contains(where: { $0 < 0x20 || $0 >= 0x7F }) { hasErrors = true }
        if !isQuoted, value.contains(UInt8(ascii: "/")) { isLoose = true }
        if isQuoted, value.contains(where: \.isBlank) { hasQuotedBlank = true }
        if !isQuoted, value.isEmpty || value.contains(where: { $0.needsQuotes || $0 == 0x2F && !isBehindBoundary }) {
            hasErrors = true
        }
        if written.contains(UInt8(ascii: "*")) { hasSections = true }
        if value.contains(UInt8(ascii: ";")) { hasSemicolon = true }
        if name != "boundary", (name + " " + String(mail: value).lowercased()).contains("boundary") {
            mayHideBoundary = true
        }
    }

    /// Text that is skipped here, and that other programs may interpret.
    private struct SkippedText {
        private var bytes: [UInt8] = []

        mutating func add(_ piece: [UInt8]) { bytes += piece + [0] }

        /// The words in the text, in lower case.
        var words: Set<String> {
            Set(bytes.split { !$0.isWordByte }.map { String(mail: $0).lowercased() })
        }
    }

    /// Reads a value.
    ///
    /// - Parameter skippedText: receives text that is not valid here.
    /// - Returns: the value, whether all programs read it the same way, and whether a blank follows it.
    private static func takeValue(
        _ tokens: inout FieldTokens,
        _ skippedText: inout SkippedText
    ) -> (value: [UInt8], isRegular: Bool, isBeforeBlank: Bool) {
        guard tokens.next == UInt8(ascii: "\"") else {
            let value = tokens.takeToken(until: ";")
            // RFC 2045 requires quotes around more characters. Most programs read the characters allowed here as part of the
            // value; `ContentType.isBoundaryAmbiguous` is about the other programs.
            let isToken = value.allSatisfy { 33...126 ~= $0 && !"()<>\"\\,".utf8.contains($0) }
            // A comment may follow, or the rest of an unquoted file name with blanks.
            let isBeforeBlank = tokens.next?.isBlank == true
            tokens.skipBlanksAndComments()
            guard tokens.next != UInt8(ascii: ";"), !tokens.isAtEnd else { return (value, isToken, isBeforeBlank) }
            let rest = tokens.takeAll(until: ";").trimmed
            skippedText.add(rest)
            return (value + [UInt8(ascii: " ")] + rest, false, true)
        }
        let value = tokens.takeQuotedString()
        let isBeforeBlank = tokens.next?.isBlank == true
        let rest = tokens.takeAll(until: ";").trimmed
        skippedText.add(rest)
        return (value, !tokens.hasOpenQuote && rest.isEmpty, isBeforeBlank)
    }

    /// One section `name*0*=` of a value (RFC 2231). A plain parameter has the number -1; it is used if there is no section
    /// 0.
    private struct Section {
        let name: String
        let number: Int?
        let isEncoded: Bool
        let value: [UInt8]

        init(name: String, value: [UInt8]) {
            let pieces = name.split(separator: "*", omittingEmptySubsequences: false)
            self.value = value
            self.name = String(pieces[0])
            isEncoded = pieces.count > 1 && pieces.last == ""
            number =
                switch (pieces.count, isEncoded) {
                case (1, _): -1
                case (2, true): 0
                case (2, false), (3, true): Int(pieces[1]).flatMap { 0...999 ~= $0 ? $0 : nil }
                default: nil
                }
        }
    }

    private static func joined(_ sections: [Int: Section]) -> String {
        let first = sections[0]
        guard let first else { return sections[-1].map { String(mail: $0.value) } ?? "" }
        var (bytes, charset) = (first.value, "")
        if first.isEncoded {
            let pieces = first.value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
            if pieces.count == 3 { (bytes, charset) = (Array(pieces[2]), String(mail: pieces[0])) }
            bytes = PercentDecoding.decode(bytes, escape: UInt8(ascii: "%"))
        }
        var number = 1
        while let section = sections[number] {
            bytes +=
                section.isEncoded
                ? PercentDecoding.decode(section.value, escape: UInt8(ascii: "%")) : section.value
            number += 1
        }
        return Charset.decode(bytes, charset: charset) ?? String(mail: bytes)
    }
}

extension UInt8 {
    /// Whether the byte must be quoted in a value (RFC 2045 §5.1), apart from the slash.
    fileprivate var needsQuotes: Bool { "()<>@,;:\\\"[]?=".utf8.contains(self) }

    /// Whether the byte can be part of a parameter name.
    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

extension Array<UInt8> {
    fileprivate var trimmed: [UInt8] { Array(self[...].trimmingBlanks()) }
}
