import ByteStreams

extension String {
    /// The text in a form that is safe for terminals and logs: control, bidirectional, invisible and confusable characters
    /// are written as `\u{…}`.
    package var escapedForDisplay: String { escaped { "\\u{\(String($0.value, radix: 16, uppercase: true))}" } }

    /// This JSON text, which must be on one line, escaped for display. Each character that `escapedForDisplay` escapes is
    /// written as `\u` and four hexadecimal digits (twice for a surrogate pair), so that a JSON parser restores the character.
    /// Quotation marks and backslashes are not escaped again.
    ///
    /// RFC 8259 §7
    package var escapedForJSON: String {
        escaped { scalar in
            UTF16.encode(scalar).map { units in
                units.map { unit in
                    "\\u" + [UInt8(unit >> 8), UInt8(unit & 0xFF)].hexadecimal
                }.joined()
            } ?? ""
        }
    }

    private func escaped(_ escape: (Unicode.Scalar) -> String) -> String {
        guard !utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else { return self }
        let scalars = Array(unicodeScalars)
        let disguised = Confusables.indices(in: scalars)
        guard !disguised.isEmpty || scalars.contains(where: \.isUnsafeToDisplay) else { return self }
        var escaped = ""
        for (index, scalar) in scalars.enumerated() {
            if disguised.contains(index) || scalar.isUnsafeToDisplay {
                escaped += escape(scalar)
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension [String] {
    /// The names in one line and escaped for display: the first 20 names, each cut to 80 characters, and the number of
    /// further names.
    package var listedForDisplay: String {
        let names = prefix(20).map { ($0.count > 80 ? $0.prefix(80) + "..." : $0).escapedForDisplay }
        return names.joined(separator: ", ") + (count > 20 ? " and \(count - 20) more" : "")
    }
}

extension Unicode.Scalar {
    /// The number of columns of a terminal that the character takes: 2 for wide East Asian characters and emoji, 0 for format
    /// characters and for marks that are drawn over the preceding character, and 1 for all others.
    ///
    /// `wcwidth(3)` depends on the locale of the process, and knows only ASCII in the locale C. Characters of ambiguous width
    /// count as narrow, as on terminals without an East Asian locale.
    ///
    /// Unicode Annex 11, EastAsianWidth.txt
    package var columnCount: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        return switch value {
        // The vowels and finals of a Hangul syllable are drawn into the syllable's square.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: 0
        // Two of these are a flag; a terminal that knows no flags shows two letters.
        case 0x1F1E6...0x1F1FF: 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
            0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
            2
        default: properties.isEmojiPresentation ? 2 : 1
        }
    }
}

extension StringProtocol {
    /// The number of columns of a terminal that the text takes. The text must not contain control characters.
    package var columnCount: Int {
        utf8.allSatisfy { $0 < 0x80 } ? utf8.count : unicodeScalars.reduce(0) { $0 + $1.columnCount }
    }

    /// The longest beginning of the text that fits `columns`. No character is separated from its marks.
    package func prefix(columns: Int) -> SubSequence {
        var (end, room) = (startIndex, columns)
        for index in indices {
            room -= self[index].unicodeScalars.reduce(0) { $0 + $1.columnCount }
            guard room >= 0 else { break }
            end = self.index(after: index)
        }
        return self[..<end]
    }
}

extension String {
    /// The text with `replacement` in place of each `scalar`.
    ///
    /// `replacing(_:with:)` compares characters. It does not find a quotation mark that is followed by a combining mark, which
    /// shells and mail servers do find.
    package func replacing(scalar: Unicode.Scalar, with replacement: String) -> String {
        var replaced = String.UnicodeScalarView()
        for found in unicodeScalars {
            if found == scalar {
                replaced.append(contentsOf: replacement.unicodeScalars)
            } else {
                replaced.append(found)
            }
        }
        return String(replaced)
    }

    /// The text as the content of a quoted string, with a backslash before each backslash and quotation mark
    /// (RFC 5322 §3.2.4).
    package var escapedForQuotes: String {
        replacing(scalar: "\\", with: "\\\\").replacing(scalar: "\"", with: "\\\"")
    }
}
