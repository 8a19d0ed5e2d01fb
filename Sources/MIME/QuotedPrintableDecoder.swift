public import Streams

/// Decodes quoted-printable text as it is read.
///
/// An escape without its two digits stays as it is, and is noted.
///
/// RFC 2045 §6.7
public final class QuotedPrintableDecoder: ByteReader {
    /// Whether anything was met that is not quoted-printable.
    public private(set) var isMalformed = false

    private enum State {
        case text
        case carriageReturn
        case escape
        case escapeDigit(UInt8)
        /// Blanks, and perhaps a carriage return, between = and the line end.
        case softBreak
    }

    /// More blanks than this at a line's end are kept, so that memory stays bounded.
    private static let mostBlanks = 65_536

    private let upstream: any ByteReader
    private let input = Window()
    private var state = State.text
    private var held: [UInt8] = []
    private var decoded: [UInt8] = []
    private var delivered = 0
    private var isAtEnd = false

    /// A reader of the bytes that the text of `upstream` stands for.
    public init(_ upstream: any ByteReader) { self.upstream = upstream }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while delivered == decoded.count, !isAtEnd {
            decoded.removeAll(keepingCapacity: true)
            delivered = 0
            let count = try upstream.read(into: input.bytes)
            decode(input.prefix(count))
            if count == 0 { finish() }
        }
        let count = min(buffer.count, decoded.count - delivered)
        decoded[delivered..<delivered + count].withUnsafeBytes { buffer.copyMemory(from: $0) }
        delivered += count
        return count
    }

    /// Takes runs of plain text and whole escapes at once, and the rest byte by byte.
    private func decode(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count {
            if case .text = state, held.isEmpty {
                let end = bytes.endOfPlainText(from: index, to: bytes.count)
                decoded.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[index..<end]))
                index = end
                if index + 2 < bytes.count, bytes[index] == UInt8(ascii: "="),
                    let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
                {
                    decoded.append(high << 4 | low)
                    index += 3
                    continue
                }
                guard index < bytes.count else { return }
            }
            take(bytes[index])
            index += 1
        }
    }

    private func take(_ byte: UInt8) {
        switch state {
        case .text: takeText(byte)
        case .carriageReturn:
            state = .text
            if byte == .lineFeed {
                held.removeAll(keepingCapacity: true)
                decoded.append(.carriageReturn)
                decoded.append(.lineFeed)
            } else {
                release()
                decoded.append(.carriageReturn)
                takeText(byte)
            }
        case .escape:
            if byte.hexadecimalValue != nil { state = .escapeDigit(byte) } else { takeSoftBreak(byte) }
        case .escapeDigit(let first):
            state = .text
            if let high = first.hexadecimalValue, let low = byte.hexadecimalValue {
                decoded.append(high << 4 | low)
            } else {
                isMalformed = true
                decoded.append(UInt8(ascii: "="))
                decoded.append(first)
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
            decoded.append(byte)
        case UInt8(ascii: "="):
            release()
            state = .escape
        default:
            if !held.isEmpty { release() }
            decoded.append(byte)
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
            decoded.append(UInt8(ascii: "="))
            release()
            state = .text
            takeText(byte)
        }
    }

    /// Passes on the blanks that turned out not to end a line.
    private func release() {
        decoded.append(contentsOf: held)
        held.removeAll(keepingCapacity: true)
    }

    private func finish() {
        isAtEnd = true
        switch state {
        case .carriageReturn:
            release()
            decoded.append(.carriageReturn)
        case .escapeDigit(let first):
            isMalformed = true
            decoded.append(UInt8(ascii: "="))
            decoded.append(first)
        case .text, .escape, .softBreak: held.removeAll()
        }
        state = .text
    }
}
