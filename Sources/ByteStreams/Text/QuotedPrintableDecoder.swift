/// Decodes quoted-printable text while it is read.
///
/// An `=` that begins neither an escape with two hexadecimal digits nor a soft line break is not changed, and `isMalformed`
/// becomes true. An `=` at the end of the text is a soft line break.
///
/// RFC 2045 §6.7
package final class QuotedPrintableDecoder: ByteReader {
    /// Whether the text read so far contained an invalid escape.
    package private(set) var isMalformed = false

    private enum State {
        case text
        case carriageReturn
        case escape
        case escapeDigit(UInt8)
        /// In blanks, and possibly a carriage return, between = and the line end.
        case softBreak
    }

    /// The maximum number of blanks that are buffered at a line's end in order to remove them. A longer run of blanks is
    /// treated as content, to limit the memory.
    private static let mostBlanks = 65_536

    private let upstream: any ByteReader
    private let input = Window()
    private var state = State.text
    private var held: [UInt8] = []
    /// The decoded bytes of one window of input: at most as many as the input, plus the blanks buffered before it, plus a
    /// few at the end of the text.
    private let decoded = Window(size: Window.size + mostBlanks + 16)
    private var filled = 0
    private var delivered = 0
    private var isAtEnd = false

    /// A reader of the decoded bytes of `upstream`.
    package init(_ upstream: any ByteReader) { self.upstream = upstream }

    package func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        while delivered == filled, !isAtEnd {
            (filled, delivered) = (0, 0)
            let count = try input.fill(from: upstream)
            decode(UnsafeRawBufferPointer(rebasing: input.storage[..<count]))
            if count == 0 { finish() }
        }
        let (decoded, count) = (decoded, min(buffer.count, filled - delivered))
        buffer.copy(decoded[delivered..<delivered + count])
        delivered += count
        return count
    }

    /// Decodes runs of plain text and complete escapes at once, and all other bytes one by one.
    private func decode(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count {
            if case .text = state, held.isEmpty { index = decodeOrdinary(bytes, from: index) }
            guard index < bytes.count else { return }
            take(bytes[index])
            index += 1
        }
    }

    /// Decodes as long as the input consists of complete plain text, escapes, line ends and soft breaks. Returns the index at
    /// which such input ends.
    private func decodeOrdinary(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        let (out, equals) = (decoded.storage, UInt8(ascii: "="))
        var (index, filled) = (start, filled)
        defer { self.filled = filled }
        return Self.values.withUnsafeBufferPointer { values in
            while index < bytes.count {
                let (byte, rest) = (bytes[index], bytes.count - index)
                if byte == equals, rest > 2, case let high = values[Int(bytes[index + 1])],
                    case let low = values[Int(bytes[index + 2])], high | low < 16
                {
                    out[filled] = high << 4 | low
                    (index, filled) = (index + 3, filled + 1)
                } else if byte == equals, rest > 2, bytes[index + 1] == .carriageReturn, bytes[index + 2] == .lineFeed {
                    index += 3
                } else if byte == .carriageReturn, rest > 1, bytes[index + 1] == .lineFeed {
                    (out[filled], out[filled + 1]) = (.carriageReturn, .lineFeed)
                    (index, filled) = (index + 2, filled + 2)
                } else {
                    let end = bytes.endOfPlainText(from: index, to: bytes.count)
                    guard end > index else { return index }
                    let piece = UnsafeRawBufferPointer(rebasing: bytes[index..<end])
                    UnsafeMutableRawBufferPointer(rebasing: out[filled...]).copyMemory(from: piece)
                    (index, filled) = (end, filled + piece.count)
                }
            }
            return index
        }
    }

    /// The value of each hexadecimal digit; 255 for all other bytes.
    private static let values = (UInt8.min ... .max).map { $0.hexadecimalValue ?? 255 }

    private func put(_ byte: UInt8) {
        decoded[filled] = byte
        filled += 1
    }

    private func take(_ byte: UInt8) {
        switch state {
        case .text: takeText(byte)
        case .carriageReturn:
            state = .text
            if byte == .lineFeed {
                held.removeAll(keepingCapacity: true)
                put(.carriageReturn)
                put(.lineFeed)
            } else {
                release()
                put(.carriageReturn)
                takeText(byte)
            }
        case .escape:
            if byte.hexadecimalValue != nil { state = .escapeDigit(byte) } else { takeSoftBreak(byte) }
        case .escapeDigit(let first):
            state = .text
            if let high = first.hexadecimalValue, let low = byte.hexadecimalValue {
                put(high << 4 | low)
            } else {
                isMalformed = true
                put(UInt8(ascii: "="))
                put(first)
                takeText(byte)
            }
        case .softBreak: takeSoftBreak(byte)
        }
    }

    private func takeText(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"):
            held.append(byte)
            if held.count > Self.mostBlanks { release() }
        case .carriageReturn: state = .carriageReturn
        case .lineFeed:
            held.removeAll(keepingCapacity: true)
            put(byte)
        case UInt8(ascii: "="):
            release()
            state = .escape
        default:
            if !held.isEmpty { release() }
            put(byte)
        }
    }

    private func takeSoftBreak(_ byte: UInt8) {
        if byte == .lineFeed {
            held.removeAll(keepingCapacity: true)
            state = .text
        } else if (byte.isBlank || byte == .carriageReturn) && held.count < Self.mostBlanks {
            held.append(byte)
            state = .softBreak
        } else {
            isMalformed = true
            put(UInt8(ascii: "="))
            release()
            state = .text
            takeText(byte)
        }
    }

    /// Outputs buffered blanks that are not at a line's end.
    private func release() {
        for byte in held { put(byte) }
        held.removeAll(keepingCapacity: true)
    }

    private func finish() {
        isAtEnd = true
        switch state {
        case .carriageReturn:
            release()
            put(.carriageReturn)
        case .escapeDigit(let first):
            isMalformed = true
            put(UInt8(ascii: "="))
            put(first)
        case .text, .escape, .softBreak: held.removeAll()
        }
        state = .text
    }
}
