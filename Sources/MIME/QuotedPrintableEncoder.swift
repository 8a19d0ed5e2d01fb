import Streams

/// Writes bytes as quoted-printable text that survives every transport.
///
/// No blank ends a line, no line starts with a dot or "From ". A CRLF stays a line end; a lone CR or LF is a byte like
/// any other.
///
/// RFC 2045 §6.7, RFC 8551 §3.1.3
final class QuotedPrintableEncoder: ByteSink {
    private static let longestLine = 76
    private static let digits = Array("0123456789ABCDEF".utf8)
    private static let mailboxLine = Array("From ".utf8)

    private let downstream: any ByteSink
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var column = 0
    private var followsSoftBreak = false

    init(_ downstream: any ByteSink) { self.downstream = downstream }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        input.append(contentsOf: bytes)
        try encode(lookahead: Self.mailboxLine.count)
    }

    /// Writes what was held back to look ahead.
    func finish() throws { try encode(lookahead: 0) }

    private func encode(lookahead: Int) throws {
        var index = 0
        while index + lookahead < input.count {
            if isLineEnd(at: index) {
                output += [.carriageReturn, .lineFeed]
                (column, followsSoftBreak) = (0, false)
                index += 2
            } else {
                append(at: index)
                index += 1
            }
        }
        input.removeFirst(index)
        try downstream.write(output)
        output.removeAll(keepingCapacity: true)
    }

    private func isLineEnd(at index: Int) -> Bool {
        input[index] == .carriageReturn && index + 1 < input.count && input[index + 1] == .lineFeed
    }

    private func append(at index: Int) {
        // The line must still take an escape and the = of a soft break, or the byte goes on the next one.
        let width = isLiteral(at: index) ? 1 : 3
        if column + width >= Self.longestLine {
            output += [UInt8(ascii: "="), .carriageReturn, .lineFeed]
            (column, followsSoftBreak) = (0, true)
        }
        let byte = input[index]
        if isLiteral(at: index) {
            output.append(byte)
            column += 1
        } else {
            output += [UInt8(ascii: "="), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            column += 3
        }
    }

    private func isLiteral(at index: Int) -> Bool {
        let byte = input[index]
        if byte.isBlank { return index + 1 < input.count && !isLineEnd(at: index + 1) }
        guard 33...126 ~= byte, byte != UInt8(ascii: "=") else { return false }
        guard column == 0 else { return true }
        return switch byte {
        case UInt8(ascii: "."): false
        case UInt8(ascii: "F"): !input[index...].starts(with: Self.mailboxLine)
        // A line that starts here must not become a boundary.
        case UInt8(ascii: "-"): !followsSoftBreak
        default: true
        }
    }
}
