import ByteStreams

extension String {
    /// The lines of this text without characters that control a terminal or change the order of the displayed text.
    ///
    /// Control sequences, other control characters, bidirectional controls and invisible characters are removed. Every kind
    /// of line end becomes a line feed; tabs are kept. Joiners and variation selectors are kept after letters and emoji that
    /// need them.
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
            case _ where scalar.isUnfitForDisplay: break
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
