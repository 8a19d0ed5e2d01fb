package import ByteStreams

/// Statistics of a text's lines, computed in one pass. They show whether mail transport might change the text.
///
/// RFC 5321 §4.5.2, RFC 5322 §2.1.1
package struct LineStatistics: Sendable, Equatable {
    /// The number of lines that end in CRLF.
    package private(set) var crlf = 0
    /// The number of line feeds without a carriage return.
    package private(set) var bareLF = 0
    /// The number of carriage returns without a line feed.
    package private(set) var bareCR = 0
    /// The length of the longest line in bytes, without its line end.
    package private(set) var longestLine = 0
    /// Whether there is a zero byte.
    package private(set) var hasNUL = false
    /// Whether there is a byte above 127.
    package private(set) var has8Bit = false
    /// The number of lines that end in a space or a tab.
    package private(set) var trailingBlanks = 0
    /// The number of lines that start with "From ".
    package private(set) var mboxLines = 0
    /// The number of lines that consist of a single dot.
    package private(set) var loneDots = 0

    private var length = 0
    /// The first five bytes of the current line, with the first one in the lowest place (`head`), and its last two bytes, with
    /// the last one in the lowest place (`tail`).
    private var head: UInt64 = 0
    private var tail: UInt16 = 0

    /// Computes the statistics of all remaining bytes of `reader`.
    ///
    /// - Throws: errors of reading.
    package init(of reader: any ByteReader) throws {
        let reader = StatisticsReader(reader)
        try reader.copy(to: CountingSink())
        self = reader.finish()
    }

    /// Computes the statistics of `bytes`.
    package init(of bytes: [UInt8]) {
        scan(bytes.octets)
        finish()
    }

    /// The statistics of no bytes.
    init() {}

    /// Whether mail transport does not change the lines: 7-bit, no line over 998 bytes, and nothing else that mail servers
    /// change.
    package var isTransportSafe: Bool { mayBeTransportSafe && bareCR == 0 }

    /// As `isTransportSafe`, but ignores carriage returns, because only the next byte shows whether one is bare.
    var mayBeTransportSafe: Bool {
        !has8Bit && !hasNUL && longestLine <= 998 && trailingBlanks == 0 && mboxLines == 0 && loneDots == 0
    }

    /// The more frequent line end; nil if there is no line end.
    package var lineEnd: LineEnd? { crlf + bareLF == 0 ? nil : crlf >= bareLF ? .crlf : .lf }

    /// Adds the next bytes to the statistics.
    mutating func scan(_ bytes: Span<UInt8>) {
        if !hasNUL { hasNUL = bytes.firstOffset(of: 0) != nil }
        if !has8Bit { has8Bit = bytes.has8Bit }
        var position = 0
        while let found = bytes.firstOffset(of: .carriageReturn, from: position) {
            // If a line feed follows, the carriage return is subtracted again at the end of the line.
            bareCR += 1
            position = found + 1
        }
        var start = 0
        while let end = bytes.firstOffset(of: .lineFeed, from: start) {
            let line = bytes.extracting(start..<end)
            if length > 0 || !endOrdinaryLine(line) {
                extendLine(line)
                endLine(hasFeed: true)
            }
            start = end + 1
        }
        extendLine(bytes.extracting(start...))
    }

    /// Ends the last line if it has no line feed.
    mutating func finish() { endLine(hasFeed: false) }

    /// The fast path for nearly all lines: the line is complete in the bytes that are scanned, has at least two bytes before
    /// its CRLF, and does not begin with F, the first letter of the `From ` of an mbox file.
    ///
    /// - Returns: false for any other line, which is not counted.
    private mutating func endOrdinaryLine(_ line: Span<UInt8>) -> Bool {
        let count = line.count - 1
        guard count > 1, line[count] == .carriageReturn, line[0] != UInt8(ascii: "F") else { return false }
        crlf += 1
        bareCR -= 1
        if count > longestLine { longestLine = count }
        if line[count - 1].isBlank { trailingBlanks += 1 }
        return true
    }

    private mutating func extendLine(_ piece: Span<UInt8>) {
        if length == 0, piece.count >= 8 {
            head = piece.word(at: 0) & 0xFF_FFFF_FFFF
        } else if length < 5 {
            for offset in 0..<min(piece.count, 5 - length) {
                head |= UInt64(piece[offset]) << UInt64(8 * (length + offset))
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
        if head == 0x20_6D6F_7246 { mboxLines += 1 }
        if length == 1, UInt8(truncatingIfNeeded: tail) == UInt8(ascii: ".") { loneDots += 1 }
        (length, head, tail) = (0, 0, 0)
    }
}

/// Computes line statistics of the bytes that are read through it.
final class StatisticsReader: ByteReader {
    private(set) var statistics = LineStatistics()
    private let upstream: any ByteReader

    init(_ upstream: any ByteReader) { self.upstream = upstream }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        let count = try upstream.read(into: &buffer)
        statistics.scan(buffer.octets.extracting(first: count))
        return count
    }

    /// The statistics; call this after everything was read.
    func finish() -> LineStatistics {
        statistics.finish()
        return statistics
    }
}
