import ByteStreams

/// One header field with its original bytes.
///
/// RFC 5322 §2.2
public struct HeaderField: Sendable {
    /// The ranges of a field and its parts in the bytes of its header.
    struct Extent: Sendable {
        var start: Int32
        var nameEnd: Int32
        var bodyStart: Int32
        var end: Int32
    }

    private let block: [UInt8]
    private let extent: Extent

    init(_ extent: Extent, of block: [UInt8]) {
        self.block = block
        self.extent = extent
    }

    /// The name as written.
    public var name: String { String(mail: nameBytes) }

    /// Whether the field is called `name`, ignoring case.
    package func isNamed(_ name: String) -> Bool {
        // The lengths are compared first, because most names have another length.
        Int(extent.nameEnd - extent.start) == name.utf8.count && nameBytes.equalsIgnoringCase(name)
    }

    /// Whether the name begins with `prefix`, ignoring case.
    package func isNamed(startingWith prefix: String) -> Bool {
        nameBytes.prefix(prefix.utf8.count).equalsIgnoringCase(prefix)
    }

    private var nameBytes: ArraySlice<UInt8> { block[Int(extent.start)..<Int(extent.nameEnd)] }

    /// The whole field: name, colon, and body, including folding and line ends.
    public var rawBytes: ArraySlice<UInt8> { block[Int(extent.start)..<Int(extent.end)] }

    /// The bytes after the colon, with folding and line ends.
    package var bodyBytes: ArraySlice<UInt8> { block[Int(extent.bodyStart)..<Int(extent.end)] }

    /// The unfolded body without blanks at its start and end.
    ///
    /// RFC 5322 §2.2.3
    public var value: String { String(mail: unfoldedBody) }

    /// The value with its encoded words decoded; for display only.
    ///
    /// RFC 2047
    public var displayValue: String { EncodedWord.decode(value) }

    /// The body's bytes without line breaks, and without blanks at the start and end.
    var unfoldedBody: [UInt8] {
        var unfolded: [UInt8] = []
        let body = bodyBytes.trimmingBlanks()
        unfolded.reserveCapacity(body.count)
        for (index, byte) in zip(body.indices, body) {
            let isBreak =
                byte == .lineFeed
                || byte == .carriageReturn && index + 1 < body.endIndex && body[index + 1] == .lineFeed
            if !isBreak { unfolded.append(byte) }
        }
        return unfolded
    }

    /// Whether the field contains a continuation line of only blanks, at which some programs end the header (RFC 5322 §4.2).
    package var holdsBlankLine: Bool {
        rawBytes.split(separator: .lineFeed, omittingEmptySubsequences: true).dropFirst().contains { line in
            line.allSatisfy { $0.isBlank || $0 == .carriageReturn }
        }
    }

    /// Whether the field describes the content, so that it belongs to the part and not to the message (RFC 2045 §3).
    package var isContentField: Bool { isNamed(startingWith: "Content-") }

    /// Whether the field determines how the body is read: a content field or MIME-Version.
    package var isStructural: Bool { isContentField || isNamed("MIME-Version") }

    /// The field's bytes, with a line end even if the input ended without one.
    package func terminatedBytes(_ lineEnd: LineEnd) -> [UInt8] {
        rawBytes.last == .lineFeed ? Array(rawBytes) : rawBytes + lineEnd.bytes
    }
}

extension HeaderField {
    /// The field's bytes with the parameter `name="value"` after all others.
    ///
    /// `removingParameters` restores the original bytes, apart from a line end that the field did not have.
    package func appendingParameter(_ name: String, value: String, _ lineEnd: LineEnd) -> [UInt8] {
        var bytes = terminatedBytes(lineEnd)
        let end = bytes.hasSuffix([.carriageReturn, .lineFeed]) ? 2 : 1
        bytes.insert(contentsOf: Array(";\(lineEnd.rawValue) \(name)=\"\(value)\"".utf8), at: bytes.count - end)
        return bytes
    }

    /// The field's bytes without the parameters called `names`, which must be in lower case.
    package func removingParameters(_ names: Set<String>, _ lineEnd: LineEnd) -> [UInt8] {
        var output: [UInt8] = []
        let (pieces, end) = parameterPieces(lineEnd)
        for (number, piece) in pieces.enumerated() {
            let name = String(mail: piece.dropFirst().prefix { $0 != UInt8(ascii: "=") }.trimmingBlanks()).lowercased()
            // The name of an extended or continued value ends in an asterisk and perhaps a number (RFC 2231 §3, §4).
            if number == 0 || !names.contains(String(name.prefix { $0 != "*" })) { output += piece }
        }
        return output + end
    }

    /// The field, divided before each semicolon that separates parameters, and its line end.
    func parameterPieces(_ lineEnd: LineEnd) -> (pieces: [ArraySlice<UInt8>], end: ArraySlice<UInt8>) {
        let bytes = terminatedBytes(lineEnd)
        let end = bytes.count - (bytes.hasSuffix([.carriageReturn, .lineFeed]) ? 2 : 1)
        return (Self.pieces(bytes[..<end]), bytes[end...])
    }

    private static func pieces(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var (isQuoted, isEscaped, depth) = (false, false, 0)
        for index in bytes.indices {
            if isEscaped {
                isEscaped = false
                continue
            }
            switch bytes[index] {
            case UInt8(ascii: "\\"): isEscaped = isQuoted || depth > 0
            case UInt8(ascii: "\"") where depth == 0: isQuoted.toggle()
            case UInt8(ascii: "(") where !isQuoted: depth += 1
            case UInt8(ascii: ")") where !isQuoted && depth > 0: depth -= 1
            case UInt8(ascii: ";") where !isQuoted && depth == 0:
                pieces.append(bytes[start..<index])
                start = index
            default: break
            }
        }
        return pieces + [bytes[start...]]
    }
}

extension Array<UInt8> {
    /// The header field with these bytes; nil if they are not a header field.
    package var field: HeaderField? { (try? HeaderBlock(parsing: self))?.fields.first }

    func hasSuffix(_ other: [UInt8]) -> Bool { suffix(other.count).elementsEqual(other) }
}

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

    /// Reads all bytes up to one of `stops`, a blank or a line break.
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
