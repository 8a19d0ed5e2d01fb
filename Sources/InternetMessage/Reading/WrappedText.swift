extension String {
    /// Breaks this line at blanks, if there are any, into lines that fit the terminal.
    ///
    /// Each character counts with its greatest width on any terminal, so lines may be shorter than necessary but never too
    /// long.
    ///
    /// - Parameters:
    ///   - columns: the maximum width of a line; it must be greater than that of the prefixes.
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
