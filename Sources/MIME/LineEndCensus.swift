public import Streams

/// What a text's lines are like, learned in one pass: the question whether it survives transport and signing.
///
/// RFC 5321 §4.5.2, RFC 5322 §2.1.1, RFC 8551 §3.1.3
public struct LineEndCensus: Sendable, Equatable {
    /// Lines that end in CRLF.
    public private(set) var crlf = 0
    /// Line feeds without a carriage return.
    public private(set) var bareLF = 0
    /// Carriage returns without a line feed.
    public private(set) var bareCR = 0
    /// Bytes of the longest line, its end not counted.
    public private(set) var longestLine = 0
    public private(set) var hasNUL = false
    /// Whether a byte above 127 was met.
    public private(set) var has8Bit = false
    /// Lines that end in a space or a tab.
    public private(set) var trailingBlanks = 0
    /// Lines that start with "From ".
    public private(set) var mailboxLines = 0
    /// Lines that are a single dot.
    public private(set) var loneDots = 0

    private var length = 0
    /// The first five bytes of the line, and its last two, the latest in the low byte.
    private var head: UInt64 = 0
    private var tail: UInt16 = 0

    /// Counts the bytes of `reader`, from where it stands to its end.
    ///
    /// - Throws: what reading throws.
    public init(of reader: any ByteReader) throws {
        let window = Window()
        while case let count = try reader.read(into: window.bytes), count > 0 { take(window.prefix(count)) }
        endLine(hasFeed: false)
    }

    /// Whether the lines pass every transport as they are: 7-bit, none over 998 bytes, nothing that gets changed.
    public var isTransportSafe: Bool {
        !has8Bit && !hasNUL && bareCR == 0 && longestLine <= 998 && trailingBlanks == 0 && mailboxLines == 0
            && loneDots == 0
    }

    /// How lines end, by majority; nil if there is no line end.
    public var lineEnd: LineEnd? { crlf + bareLF == 0 ? nil : crlf >= bareLF ? .crlf : .lf }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) {
        if !hasNUL { hasNUL = bytes.firstOffset(of: 0) != nil }
        if !has8Bit { has8Bit = Self.has8Bit(bytes) }
        var position = 0
        while let found = bytes.firstOffset(of: .carriageReturn, from: position) {
            // Those before a line feed are taken off again when their line ends.
            bareCR += 1
            position = found + 1
        }
        var start = 0
        while let end = bytes.firstOffset(of: .lineFeed, from: start) {
            extendLine(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            endLine(hasFeed: true)
            start = end + 1
        }
        extendLine(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }

    private mutating func extendLine(_ piece: UnsafeRawBufferPointer) {
        if length == 0, piece.count >= 8 {
            head = UInt64(littleEndian: piece.loadUnaligned(as: UInt64.self)) & 0xFF_FFFF_FFFF
        } else if length < 5 {
            for (offset, byte) in piece.prefix(5 - length).enumerated() {
                head |= UInt64(byte) << UInt64(8 * (length + offset))
            }
        }
        if piece.count >= 2 {
            tail = UInt16(piece[piece.count - 2]) << 8 | UInt16(piece[piece.count - 1])
        } else if let byte = piece.first {
            tail = tail << 8 | UInt16(byte)
        }
        length += piece.count
    }

    private mutating func endLine(hasFeed: Bool) {
        let endsInReturn = hasFeed && length > 0 && UInt8(truncatingIfNeeded: tail) == .carriageReturn
        if endsInReturn {
            crlf += 1
            bareCR -= 1
            tail >>= 8
            length -= 1
        } else if hasFeed {
            bareLF += 1
        }
        longestLine = max(longestLine, length)
        if length > 0, UInt8(truncatingIfNeeded: tail).isBlank { trailingBlanks += 1 }
        if head == 0x20_6D6F_7246 { mailboxLines += 1 }
        if length == 1, UInt8(truncatingIfNeeded: tail) == UInt8(ascii: ".") { loneDots += 1 }
        (length, head, tail) = (0, 0, 0)
    }

    private static func has8Bit(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let words = bytes.count / 8
        var seen: UInt64 = 0
        for word in 0..<words { seen |= bytes.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self) }
        for byte in bytes[(8 * words)...] { seen |= UInt64(byte) }
        return seen & 0x8080_8080_8080_8080 != 0
    }
}
