import InternetMessage

/// Lines of text that may be copies of header fields.
struct FieldCopies {
    private let lines: [String]

    /// - Parameter text: lines; one that begins with a blank continues the line before it.
    init(_ text: String) {
        var lines: [String] = []
        for line in text.split(whereSeparator: \.isNewline) where !line.allSatisfy(\.isWhitespace) {
            if let last = lines.last, line.first?.isWhitespace == true {
                lines[lines.count - 1] = last + line
            } else {
                lines.append(String(line))
            }
        }
        self.lines = lines
    }

    /// Whether there is at least one line, and each line is the name of one of `fields` with its value, encoded or decoded.
    /// Blanks do not matter.
    func areOnly(_ fields: HeaderBlock.Fields) -> Bool {
        !lines.isEmpty
            && lines.allSatisfy { line in
                guard let colon = line.firstIndex(of: ":") else { return false }
                let name = String(line[..<colon])
                let value = Self.words(String(line[line.index(after: colon)...]))
                return fields.contains { field in
                    let values = [field.value, field.displayValue]
                    return field.isNamed(name)
                        && (values + values.map(\.escapedForDisplay)).contains { Self.words($0) == value }
                }
            }
    }

    private static func words(_ text: String) -> [Substring] { text.split(whereSeparator: \.isWhitespace) }
}
