package import ByteStreams

/// The text of a body after decoding the transfer encoding and the character set.
package struct BodyText: Sendable {
    /// The text, which may contain any characters. Invalid bytes are replaced by U+FFFD.
    package let text: String
    /// Whether the body has more text than was read.
    package let isCut: Bool
    /// Whether the base64 is damaged. Up to 256 bytes of text before the damage are then missing, as is all text after it.
    package let isDamaged: Bool

    /// Whether the body has text, but none of it was read.
    package var isLeftOut: Bool { isCut && text.isEmpty }

    package init(_ text: String, isCut: Bool = false, isDamaged: Bool = false) {
        self.text = text
        self.isCut = isCut
        self.isDamaged = isDamaged
    }

    /// `bytes`, from the body of `part` without its transfer encoding, as text. Invalid bytes are replaced by U+FFFD.
    package static func decoded(_ bytes: [UInt8], of part: Entity) -> String {
        let charset = part.contentType.parameters["charset"] ?? ""
        return Charset.decode(bytes, charset: charset) ?? String(decoding: bytes, as: UTF8.self)
    }
}

extension Entity {
    /// Reads the text of the body.
    ///
    /// - Parameter limit: the maximum number of decoded bytes to read.
    /// - Throws: errors of reading the source.
    package func bodyText(of source: any ByteSource, limit: Int) throws -> BodyText {
        var bytes: [UInt8] = []
        var isDamaged = false
        do {
            // If the base64 is damaged, only a short piece before the damage is lost.
            let reader = try decodedBody(of: source).inPieces(of: 256).makeReader()
            let window = Window()
            while bytes.count <= limit, case let count = try window.fill(from: reader), count > 0 {
                bytes.append(contentsOf: window.prefix(count))
            }
        } catch StreamError.malformedBase64 {
            isDamaged = true
        }
        let isCut = bytes.count > limit
        if isCut { bytes.removeLast(bytes.count - limit) }
        return BodyText(BodyText.decoded(bytes, of: self), isCut: isCut, isDamaged: isDamaged)
    }

    /// The decoded file name of the part; nil if there is none.
    package var fileName: String? {
        (disposition?.filename ?? contentType.parameters["name"]).map { EncodedWord.decode($0) }
    }
}

extension String {
    /// Breaks this line at blanks, if there are any, into lines that fit the terminal.
    ///
    /// Each character counts with its greatest width on any terminal, so lines may be shorter than necessary but never too
    /// long.
    ///
    /// - Parameters:
    ///   - columns: the maximum width of a line. It must be greater than the width of the prefixes.
    ///   - prefix: the text before the first line.
    ///   - rest: the text before each further line.
    package func wrapped(to columns: Int, behind prefix: String = "", then rest: String) -> [String] {
        let scalars = Array(unicodeScalars)
        var lines: [String] = []
        var start = 0
        repeat {
            let prefix = lines.isEmpty ? prefix : rest
            let (line, end) = Self.line(of: scalars, from: start, behind: prefix, columns)
            lines.append(line)
            start = end
        } while start < scalars.count
        return lines
    }

    /// The line that begins at `start`, and the start of the next line.
    private static func line(
        of scalars: [Unicode.Scalar],
        from start: Int,
        behind prefix: String,
        _ columns: Int
    ) -> (line: String, end: Int) {
        var line = prefix.unicodeScalars
        var (width, end) = (prefix.utf8.count, start)
        /// The line up to its last blank; nil if it has no blank.
        var broken: (line: String.UnicodeScalarView, end: Int)?
        while end < scalars.count {
            let scalar = scalars[end]
            let count = columnCount(of: scalar, at: width)
            // A line has at least one character.
            guard width + count <= columns || end == start else {
                return broken.map { (String($0.line), $0.end) } ?? (String(line), end)
            }
            end += 1
            width += count
            if scalar == " " || scalar == "\t" {
                broken = (line, end)
                line.append(contentsOf: String(repeating: " ", count: count).unicodeScalars)
            } else {
                line.append(scalar)
            }
        }
        return (String(line), end)
    }

    /// The maximum width of a character in columns.
    ///
    /// Unicode Annex 11 classifies East Asian characters and emoji as wide, and some characters as ambiguous; the latter are
    /// wide on East Asian terminals, so they count as wide.
    private static func columnCount(of scalar: Unicode.Scalar, at width: Int) -> Int {
        switch scalar.value {
        case 0x09: 8 - width % 8
        case ..<0xA1: 1
        case ..<0x1100, 0x1E00...0x205E: isAmbiguous(scalar.value) ? 2 : 1
        default: 2
        }
    }

    /// Whether a character below the wide ranges is of class A (ambiguous), or between two such characters.
    ///
    /// Unicode Annex 11, EastAsianWidth.txt
    private static func isAmbiguous(_ value: UInt32) -> Bool {
        switch value {
        case 0xA1...0x2DF, 0x300...0x36F, 0x391...0x3C9, 0x401...0x451, 0x2010...0x205E: true
        default: false
        }
    }
}

extension String {
    /// The lines of this text without characters that control a terminal or change the order of the displayed text.
    ///
    /// Control sequences, other control characters, bidirectional controls and invisible characters are removed. Every kind
    /// of line end becomes a line feed; tabs are kept. Joiners (U+200C, U+200D) and variation selectors (U+FE0E, U+FE0F) are
    /// kept after a non-ASCII character, because letters and emoji may need them.
    ///
    /// ECMA-48 §5.4, UAX #9
    package var withoutTerminalControls: String {
        guard !utf8.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x0A || $0 == 0x09 }) else { return self }
        var shown = String.UnicodeScalarView()
        var rest = Array(unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r":
                if rest.first == "\n" { rest.removeFirst() }
                shown.append("\n")
            case "\n", "\u{85}", "\u{2028}", "\u{2029}": shown.append("\n")
            case "\t": shown.append("\t")
            case "\u{1B}" where rest.first == "[":
                rest = rest.dropFirst().drop { 0x20...0x3F ~= $0.value }
                if let end = rest.first, 0x40...0x7E ~= end.value { rest.removeFirst() }
            case "\u{9B}":
                rest = rest.drop { 0x20...0x3F ~= $0.value }
                if let end = rest.first, 0x40...0x7E ~= end.value { rest.removeFirst() }
            case "\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}":
                if let last = shown.last, !last.isASCII { shown.append(scalar) }
            case _ where scalar.isUnsafeToDisplay: break
            default: shown.append(scalar)
            }
        }
        return String(shown)
    }

    /// Like `withoutTerminalControls`, but on a single line with single blanks, and with confusable characters written as
    /// `\u{…}`. For header fields and file names.
    package var asDisplayedLine: String {
        // U+2800 is the Braille pattern without dots, which looks like a blank.
        let words = withoutTerminalControls.split { $0.isWhitespace || $0 == "\u{2800}" }
        return words.joined(separator: " ").escapedForDisplay
    }
}
