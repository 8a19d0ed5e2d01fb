extension String {
    /// This line, cut into lines that a terminal shows without cutting them again, at blanks where there are some.
    ///
    /// Characters count as much as the widest terminal makes of them, so that lines are rather too short than too long.
    ///
    /// - Parameters:
    ///   - columns: how many columns a line may have.
    ///   - prefix: what stands in front of the first line.
    ///   - rest: what stands in front of the others.
    package func wrapped(to columns: Int, behind prefix: String = "", then rest: String) -> [String] {
        var lines: [String] = []
        var line = LineInProgress(prefix, columns)
        for scalar in unicodeScalars {
            if !line.hasRoom(for: scalar) {
                let (full, begun) = line.divided
                lines.append(full)
                line = LineInProgress(rest, columns)
                begun.forEach { line.append($0) }
            }
            line.append(scalar)
        }
        return lines + [line.text]
    }
}

/// A line while it grows.
private struct LineInProgress {
    private let prefix: String
    private let columns: Int
    private var scalars: [Unicode.Scalar] = []
    private var width: Int
    /// How many scalars there are up to and with the last blank.
    private var breakable = 0

    init(_ prefix: String, _ columns: Int) {
        self.prefix = prefix
        self.columns = columns
        width = prefix.utf8.count
    }

    var text: String { Self.text(prefix, scalars[...]) }

    /// The line up to its last blank, and what belongs on the next one; the whole line if it has no blank.
    var divided: (line: String, rest: ArraySlice<Unicode.Scalar>) {
        let end = breakable == 0 ? scalars.count : breakable
        return (Self.text(prefix, scalars[..<end]), scalars[end...])
    }

    /// Whether `scalar` fits; a line that holds nothing takes anything.
    func hasRoom(for scalar: Unicode.Scalar) -> Bool {
        scalars.isEmpty || width + columnCount(of: scalar) <= columns
    }

    mutating func append(_ scalar: Unicode.Scalar) {
        let count = columnCount(of: scalar)
        if scalar == "\t" {
            scalars += Array(repeating: " ", count: count)
        } else {
            scalars.append(scalar)
        }
        width += count
        if scalar == " " || scalar == "\t" { breakable = scalars.count }
    }

    /// Unicode Annex 11 calls East Asian characters and emoji wide; whatever may be so counts as that.
    private func columnCount(of scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x09: 8 - width % 8
        case ..<0x1100, 0x1E00...0x205E: 1
        default: 2
        }
    }

    private static func text(_ prefix: String, _ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = prefix.unicodeScalars
        text.append(contentsOf: scalars)
        return String(text)
    }
}
