extension String {
    /// This line, cut into lines that a terminal shows without cutting them again, at blanks where there are some.
    ///
    /// Characters count as much as the widest terminal makes of them, so that lines are rather too short than too long.
    ///
    /// - Parameters:
    ///   - columns: how many columns a line may have, more than the prefixes.
    ///   - prefix: what stands in front of the first line.
    ///   - rest: what stands in front of the others.
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

    /// The line that begins at `start`, and where the next one does.
    private static func line(
        of scalars: [Unicode.Scalar],
        from start: Int,
        behind prefix: String,
        _ columns: Int
    ) -> (line: String, end: Int) {
        var line = prefix.unicodeScalars
        var (width, end) = (prefix.utf8.count, start)
        /// The line up to its last blank.
        var broken: (line: String.UnicodeScalarView, end: Int)?
        while end < scalars.count {
            let scalar = scalars[end]
            let count = columnCount(of: scalar, at: width)
            // A line takes at least one.
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

    /// How many columns a character may take.
    ///
    /// Unicode Annex 11 calls East Asian characters and emoji wide, and others ambiguous, which East Asian terminals show wide;
    /// whatever may be so counts as that.
    private static func columnCount(of scalar: Unicode.Scalar, at width: Int) -> Int {
        switch scalar.value {
        case 0x09: 8 - width % 8
        case ..<0xA1: 1
        case ..<0x1100, 0x1E00...0x205E: isAmbiguous(scalar.value) ? 2 : 1
        default: 2
        }
    }

    /// Whether a character below those that count as wide is of the class A, or between two that are.
    ///
    /// Unicode Annex 11, EastAsianWidth.txt
    private static func isAmbiguous(_ value: UInt32) -> Bool {
        switch value {
        case 0xA1...0x2DF, 0x300...0x36F, 0x391...0x3C9, 0x401...0x451, 0x2010...0x205E: true
        default: false
        }
    }
}
