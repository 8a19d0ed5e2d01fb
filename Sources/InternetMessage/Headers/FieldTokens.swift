import ByteStreams

/// Divides the body of a structured field into tokens, quoted strings and comments.
///
/// RFC 5322 §3.2, RFC 2045 §5.1
struct FieldTokens {
    private var rest: ArraySlice<UInt8>
    /// The text of the comments so far.
    private(set) var comments: [UInt8] = []
    /// Whether a quoted string has no closing quote.
    private(set) var hasOpenQuote = false
    /// Whether other programs may divide the field in other places: there was a comment, a backslash, or a misplaced quote or
    /// parenthesis. Few programs follow the RFCs for all of these.
    private(set) var isAmbiguous = false

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }
    var next: UInt8? { rest.first }

    /// Skips blanks and comments. A comment without a closing parenthesis extends to the end of the field.
    mutating func skipBlanksAndComments() {
        while let byte = rest.first {
            if byte.isBlank || byte == .carriageReturn || byte == .lineFeed {
                rest.removeFirst()
            } else if byte == UInt8(ascii: "(") {
                skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() {
        var depth = 0
        let start = rest
        isAmbiguous = true
        defer { comments += start.prefix(start.count - rest.count) }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\\"): _ = rest.popFirst()
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")"): depth -= 1
            default: break
            }
            if depth == 0 { return }
        }
    }

    /// Reads `byte` if it is the next byte; returns whether it was.
    mutating func take(_ byte: Character) -> Bool {
        guard let next = rest.first, next == byte.asciiValue else { return false }
        rest.removeFirst()
        return true
    }

    /// Reads all bytes up to one of `stops`, a blank or a comment.
    mutating func takeToken(until stops: String) -> [UInt8] {
        let token = rest.prefix { byte in
            !byte.isBlank && byte != .carriageReturn && byte != .lineFeed && !stops.utf8.contains(byte)
        }
        return take(token)
    }

    /// Reads all bytes up to one of `stops`.
    mutating func takeAll(until stops: String) -> [UInt8] { take(rest.prefix { !stops.utf8.contains($0) }) }

    /// Consumes `token`, which is outside of quotes, and returns its bytes.
    private mutating func take(_ token: ArraySlice<UInt8>) -> [UInt8] {
        rest = rest.dropFirst(token.count)
        if token.contains(where: "\"\\()".utf8.contains) { isAmbiguous = true }
        return Array(token)
    }

    /// Reads the quoted string that begins with the next byte, and returns it without quotes. A string without a closing
    /// quote extends to the end of the field.
    mutating func takeQuotedString() -> [UInt8] {
        rest.removeFirst()
        var content: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return content
            case UInt8(ascii: "\\"):
                isAmbiguous = true
                if let escaped = rest.popFirst() { content.append(escaped) }
            default: content.append(byte)
            }
        }
        (hasOpenQuote, isAmbiguous) = (true, true)
        return content
    }
}
