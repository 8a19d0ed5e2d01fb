package import NIOCore

extension SMTPReply {
    /// The maximum length of a line in bytes, including its end.
    ///
    /// RFC 5321 §4.5.3.1.5
    static let maximumLineLength = 512
    /// The maximum number of lines in a reply; further lines are dropped.
    static let maximumLines = 20

    /// Appends the reply to `buffer`, in the encoding of ``encoded(withEnhancedCode:)``.
    package func write(to buffer: inout ByteBuffer, withEnhancedCode: Bool) {
        let prefix = withEnhancedCode ? enhancedCode.map { "\($0) " } ?? "" : ""
        let lines = harmlessLines(of: Self.maximumLineLength - 4 - prefix.utf8.count - 2)
        for (index, line) in lines.enumerated() {
            buffer.writeString("\(code)\(index == lines.count - 1 ? " " : "-")\(prefix)\(line)\r\n")
        }
    }

    /// The text in lines of at most `length` bytes of printable ASCII; at least one line.
    ///
    /// Every other character is written by its number, such as `\x{F6}`, as in addresses of RFC 6533 §3.
    func harmlessLines(of length: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        /// Ends the line. If the text continues, the line is broken at its last space.
        func end(isWrapped: Bool) {
            guard isWrapped, let space = line.lastIndex(of: " "), space > line.startIndex else {
                lines.append(line)
                line = ""
                return
            }
            lines.append(String(line[..<space]))
            line = String(line[line.index(after: space)...])
        }
        for scalar in text.unicodeScalars where lines.count < Self.maximumLines {
            if scalar == "\n" {
                end(isWrapped: false)
                continue
            }
            guard scalar != "\r" else { continue }
            let piece =
                0x20...0x7E ~= scalar.value
                ? String(scalar) : "\\x{\(String(scalar.value, radix: 16, uppercase: true))}"
            while line.utf8.count + piece.utf8.count > length { end(isWrapped: true) }
            line += piece
        }
        if lines.count < Self.maximumLines, !line.isEmpty || lines.isEmpty { lines.append(line) }
        return lines
    }
}
