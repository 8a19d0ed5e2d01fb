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
        let end = max(0, input.count - lookahead)
        let taken = input.withUnsafeBytes { bytes in
            var index = 0
            while index < end {
                let plain = column == 0 ? index : bytes.endOfPlainText(from: index, to: min(end, index + room))
                if plain > index {
                    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[index..<plain]))
                    column += plain - index
                    index = plain
                } else if Self.isLineEnd(bytes, at: index) {
                    endLine(soft: false)
                    index += 2
                } else {
                    append(bytes, at: index)
                    index += 1
                }
            }
            return index
        }
        input.removeFirst(taken)
        try downstream.write(output)
        output.removeAll(keepingCapacity: true)
    }

    /// How many characters the line still takes besides the = of a soft break.
    private var room: Int { Self.longestLine - 1 - column }

    private static func isLineEnd(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        index + 1 < bytes.count && bytes[index] == .carriageReturn && bytes[index + 1] == .lineFeed
    }

    private func endLine(soft: Bool) {
        if soft { output.append(UInt8(ascii: "=")) }
        output.append(.carriageReturn)
        output.append(.lineFeed)
        (column, followsSoftBreak) = (0, soft)
    }

    private func append(_ bytes: UnsafeRawBufferPointer, at index: Int) {
        if room < (isLiteral(bytes, at: index) ? 1 : 3) { endLine(soft: true) }
        let byte = bytes[index]
        if isLiteral(bytes, at: index) {
            output.append(byte)
            column += 1
        } else {
            output.append(UInt8(ascii: "="))
            output.append(Self.digits[Int(byte >> 4)])
            output.append(Self.digits[Int(byte & 15)])
            column += 3
        }
    }

    private func isLiteral(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        let byte = bytes[index]
        if byte.isBlank { return index + 1 < bytes.count && !Self.isLineEnd(bytes, at: index + 1) }
        guard 33...126 ~= byte, byte != UInt8(ascii: "=") else { return false }
        guard column == 0 else { return true }
        return switch byte {
        case UInt8(ascii: "."): false
        case UInt8(ascii: "F"): !bytes[index...].starts(with: Self.mailboxLine)
        // A line that starts here must not become a boundary.
        case UInt8(ascii: "-"): !followsSoftBreak
        default: true
        }
    }
}
