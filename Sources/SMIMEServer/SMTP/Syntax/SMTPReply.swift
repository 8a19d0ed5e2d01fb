package import NIOCore

/// A reply of an SMTP server: a code, an enhanced code, and text for people.
///
/// RFC 5321 §4.2, RFC 2034 §4
package struct SMTPReply: Hashable, Sendable {
    /// The code of three digits, 200 to 599.
    package let code: Int
    /// The enhanced status code, whose class is the code's first digit; nil if there is none.
    package let enhancedCode: EnhancedStatusCode?
    /// The text for people, whose lines are separated by line feeds. Any text is allowed; it is escaped when it is written.
    package let text: String

    /// - Parameters:
    ///   - code: the reply code. An invalid code becomes 451.
    ///   - enhancedCode: the enhanced status code. Its class is changed to that of `code`; it is dropped for codes of the
    ///     class 3.
    package init(_ code: Int, _ enhancedCode: EnhancedStatusCode?, text: String) {
        self.code = 200...599 ~= code ? code : 451
        self.enhancedCode = enhancedCode?.matching(replyCode: self.code)
        self.text = text
    }

    /// Whether the command succeeded (2xx).
    package var isSuccess: Bool { code / 100 == 2 }
    /// Whether the command may succeed later (4xx).
    package var isTemporary: Bool { code / 100 == 4 }
    /// Whether the command would fail again (5xx).
    package var isPermanent: Bool { code / 100 == 5 }

    /// The reply for passing it on from another server. 421 announces that the other server closes its own connection, so
    /// 421 becomes 451.
    package var passedOn: SMTPReply { code == 421 ? SMTPReply(451, enhancedCode, text: text) : self }

    /// The encoded reply, with CRLF after every line.
    ///
    /// - Parameter withEnhancedCode: whether ENHANCEDSTATUSCODES was announced to the client.
    package func encoded(withEnhancedCode: Bool = true) -> ByteBuffer {
        var buffer = ByteBuffer()
        write(to: &buffer, withEnhancedCode: withEnhancedCode)
        return buffer
    }
}

extension SMTPReply: CustomStringConvertible {
    /// The reply in one line for a log. Control characters and non-ASCII characters are escaped.
    package var description: String {
        let text = harmlessLines(of: Self.maximumLineLength).joined(separator: " ")
        return ["\(code)", enhancedCode.map { "\($0)" }, text].compactMap(\.self).filter { !$0.isEmpty }
            .joined(separator: " ")
    }
}

extension SMTPReply {
    /// The maximum length of a line in bytes, including its end.
    ///
    /// RFC 5321 §4.5.3.1.5
    static let maximumLineLength = 512
    /// The maximum number of lines in a reply; further lines are dropped.
    static let maximumLines = 20

    /// The maximum length of a short reply in bytes, including its end.
    private static let maximumShortLength = 250

    /// The reply with a text that fits into one short line. If the text is too long, its first line, which gives the reason,
    /// is cut. The other lines, which may be the administrator's, are kept if there is room for them.
    ///
    /// LMTP clients may have little room for a reply. Exim's client considers a reply malformed if all its lines together have
    /// more than 256 bytes, and tries again although the message was accepted.
    package var shortened: SMTPReply {
        let length = Self.maximumShortLength - "250 2.000.000 \r\n".utf8.count
        func reply(_ text: String) -> SMTPReply { SMTPReply(code, enhancedCode, text: text) }
        let lines = text.split(separator: "\n").map(String.init)
        let all = reply(lines.joined(separator: " "))
        guard all.harmlessLines(of: length).count > 1, let reason = lines.first else { return all }
        let rest = reply(lines.dropFirst().joined(separator: " ")).harmlessLines(of: length / 2)
        let end = rest.count == 1 && !rest[0].isEmpty ? " ... \(rest[0])" : " ..."
        let room = length - end.utf8.count
        let words = reply(reason).harmlessLines(of: room)[0]
        // A very long word, such as a link, is cut; otherwise only the short words in front of it would be left.
        let isCut = words.utf8.count < room / 2
        return reply((isCut ? reply(reason).harmlessLines(of: room, cutsWords: true)[0] : words) + end)
    }

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
    ///
    /// - Parameter cutsWords: whether lines also end inside words.
    func harmlessLines(of length: Int, cutsWords: Bool = false) -> [String] {
        var lines: [String] = []
        var line = ""
        /// Ends the line. If the text continues, the line is broken at its last space.
        func end(isWrapped: Bool) {
            guard isWrapped, !cutsWords, let space = line.lastIndex(of: " "), space > line.startIndex else {
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

/// The status code that precedes a reply's text, such as `5.7.1`.
///
/// RFC 3463 §2
package struct EnhancedStatusCode: Hashable, Sendable {
    /// The class: 2 for success, 4 for a temporary failure, 5 for a permanent failure.
    package let statusClass: Int
    package let subject: Int
    package let detail: Int

    /// - Returns: nil unless the class is 2, 4 or 5, and subject and detail have at most three digits.
    package init?(_ statusClass: Int, subject: Int, detail: Int) {
        guard [2, 4, 5].contains(statusClass), 0...999 ~= subject, 0...999 ~= detail else { return nil }
        (self.statusClass, self.subject, self.detail) = (statusClass, subject, detail)
    }

    /// Reads `5.7.1`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let fields = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard fields.count == 3 else { return nil }
        let numbers = fields.compactMap { field -> Int? in
            guard 1...3 ~= field.count, field.allSatisfy({ 48...57 ~= $0 }) else { return nil }
            return field.reduce(0) { 10 * $0 + Int($1 - 48) }
        }
        guard numbers.count == 3 else { return nil }
        self.init(numbers[0], subject: numbers[1], detail: numbers[2])
    }
}

extension EnhancedStatusCode: CustomStringConvertible {
    package var description: String { "\(statusClass).\(subject).\(detail)" }
}

extension EnhancedStatusCode: ExpressibleByStringLiteral {
    /// A literal code. A malformed literal becomes "other or undefined" (RFC 3463 §3.1).
    package init(stringLiteral text: StaticString) {
        self = Self("\(text)") ?? Self(undefinedOf: 5)
    }

    /// The code "other or undefined status" of a class.
    private init(undefinedOf statusClass: Int) {
        (self.statusClass, subject, detail) = (statusClass, 0, 0)
    }

    /// The code with the class of a reply's code, which RFC 2034 §4 requires; nil if the reply's class has no enhanced codes.
    func matching(replyCode: Int) -> EnhancedStatusCode? {
        EnhancedStatusCode(replyCode / 100, subject: subject, detail: detail)
    }
}
