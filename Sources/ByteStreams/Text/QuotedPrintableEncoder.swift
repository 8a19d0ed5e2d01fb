/// Writes bytes as quoted-printable text that no mail transport changes.
///
/// No line ends in a blank or starts with a dot, "From " or two hyphens. CRLF is a line end; a single CR or LF is encoded
/// like other bytes.
///
/// RFC 2045 §6.7
package final class QuotedPrintableEncoder: ByteSink {
    /// The maximum length of a line without the = of a soft break.
    private static let longestLine = 75
    private static let mboxMark = Array("From ".utf8)
    private static let delimiter = Array("--".utf8)

    private let downstream: any ByteSink
    private var input: [UInt8] = []
    private let output = Window()
    private var column = 0

    package init(_ downstream: any ByteSink) { self.downstream = downstream }

    package func write(_ bytes: Span<UInt8>) throws {
        input.append(contentsOf: bytes)
        try encode(lookahead: Self.mboxMark.count)
    }

    /// Writes the bytes that were buffered for look-ahead.
    package func finish() throws { try encode(lookahead: 0) }

    private func encode(lookahead: Int) throws {
        let (output, end) = (output, max(0, input.count - lookahead))
        var taken = 0
        while taken < end {
            let (next, filled) = input.withUnsafeBytes { encode($0, from: taken, to: end) }
            try downstream.write(output.prefix(filled))
            taken = next
        }
        input.removeFirst(taken)
    }

    /// Encodes from `start` to `end`, or until the window is full.
    ///
    /// - Returns: the index at which to continue, and the number of bytes in the window.
    private func encode(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> (next: Int, filled: Int) {
        let out = output.storage
        // In one step, either an escape or a run of plain characters is written. An escape is stored as four bytes, of which
        // the last one is overwritten.
        let lastStart = out.count - Self.longestLine - 4
        var (index, filled, column) = (start, 0, column)
        Self.escapes.withUnsafeBufferPointer { escapes in
            while index < end, filled <= lastStart {
                let escape = escapes[Int(bytes[index])]
                if escape >= Self.always, column <= Self.longestLine - 3 {
                    out.storeBytes(of: escape.littleEndian, toByteOffset: filled, as: UInt32.self)
                    (index, filled, column) = (index + 1, filled + 3, column + 3)
                } else if case let run = column == 0 ? 0 : Self.run(in: bytes, from: index, to: end, column), run > 0 {
                    let piece = UnsafeRawBufferPointer(rebasing: bytes[index..<index + run])
                    UnsafeMutableRawBufferPointer(rebasing: out[filled...]).copyMemory(from: piece)
                    (index, filled, column) = (index + run, filled + run, column + run)
                } else if Self.isLineEnd(bytes, at: index) {
                    (out[filled], out[filled + 1]) = (.carriageReturn, .lineFeed)
                    (index, filled, column) = (index + 2, filled + 2, 0)
                } else if case let isLiteral = Self.isLiteral(bytes, at: index, column),
                    column + (isLiteral ? 1 : 3) <= Self.longestLine
                {
                    out.storeBytes(
                        of: isLiteral ? UInt32(bytes[index]).littleEndian : escape.littleEndian,
                        toByteOffset: filled,
                        as: UInt32.self
                    )
                    let count = isLiteral ? 1 : 3
                    (index, filled, column) = (index + 1, filled + count, column + count)
                } else {
                    (out[filled], out[filled + 1], out[filled + 2]) = (UInt8(ascii: "="), .carriageReturn, .lineFeed)
                    (filled, column) = (filled + 3, 0)
                }
            }
        }
        self.column = column
        return (index, filled)
    }

    /// The number of bytes from `start` on that need no escape and fit into the line.
    private static func run(in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int, _ column: Int) -> Int {
        bytes.endOfPlainText(from: start, to: min(end, start + longestLine - column)) - start
    }

    private static func isLineEnd(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
        index + 1 < bytes.count && bytes[index] == .carriageReturn && bytes[index + 1] == .lineFeed
    }

    private static func isLiteral(_ bytes: UnsafeRawBufferPointer, at index: Int, _ column: Int) -> Bool {
        let byte = bytes[index]
        if byte.isBlank { return index + 1 < bytes.count && !isLineEnd(bytes, at: index + 1) }
        guard 33...126 ~= byte, byte != UInt8(ascii: "=") else { return false }
        guard column == 0 else { return true }
        return switch byte {
        case UInt8(ascii: "."): false
        case UInt8(ascii: "F"): !bytes[index...].starts(with: mboxMark)
        // The encoded line must not look like a boundary.
        case UInt8(ascii: "-"): !bytes[index...].starts(with: delimiter)
        default: true
        }
    }

    /// The mark in `escapes` for bytes that are escaped at any position.
    private static let always: UInt32 = 1 << 24

    /// The three characters of the escape of each byte, the first one in the low byte.
    private static let escapes: [UInt32] = {
        let digits = Array("0123456789ABCDEF".utf8).map { UInt32($0) }
        return (0...255).map { byte in
            let text = UInt32(UInt8(ascii: "=")) | digits[byte >> 4] << 8 | digits[byte & 15] << 16
            let isPlain = 32...126 ~= byte && byte != UInt8(ascii: "=")
            return isPlain || byte == UInt8(ascii: "\t") || byte == UInt8.carriageReturn ? text : text | always
        }
    }()
}

extension QuotedPrintableEncoder {
    /// Determines how long the bytes written to it would be in quoted-printable and in base64.
    package final class Estimate: ByteSink {
        private var count = 0
        private var escaped = 0

        /// 1 for each byte that is escaped, 0 for all others.
        private static let isEscaped = (UInt8.min ... .max).map { byte in
            let isText = 32...126 ~= byte && byte != UInt8(ascii: "=")
            return isText || [9, .lineFeed, .carriageReturn].contains(byte) ? 0 : 1
        }

        package init() {}

        package func write(_ bytes: Span<UInt8>) {
            count += bytes.count
            escaped += Self.isEscaped.withUnsafeBufferPointer { isEscaped in
                bytes.withUnsafeBytes { $0.reduce(into: 0) { $0 &+= isEscaped[Int($1)] } }
            }
        }

        /// Whether base64 is shorter. The line ends of base64 are counted, the soft line breaks of quoted-printable are not.
        ///
        /// RFC 2045 §6
        package var favoursBase64: Bool { count + 2 * escaped > Base64Encoder.encodedCount(count, lineEnd: 2) }
    }
}

extension UnsafeRawBufferPointer {
    /// The end of the run of bytes from `start` that are the same in quoted-printable: printable ASCII except =, and spaces
    /// that are followed by such characters.
    func endOfPlainText(from start: Int, to end: Int) -> Int {
        var index = start
        while index + 8 <= end {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let others = word.bytesThatAreNotPlain
            index += others.trailingZeroBitCount / 8
            guard others == 0 else { break }
        }
        while index < end, UInt64(self[index]).bytesThatAreNotPlain & 0x80 == 0 { index += 1 }
        // The byte after a space shows whether the space is at the end of the line.
        let isFollowed =
            index < count && self[index] != UInt8(ascii: " ") && UInt64(self[index]).bytesThatAreNotPlain & 0x80 == 0
        while !isFollowed, index > start, self[index - 1] == UInt8(ascii: " ") { index -= 1 }
        return index
    }
}

extension UInt64 {
    /// Marks the highest bit of each byte that is = or neither printable ASCII nor a space. Bytes above the lowest marked
    /// byte may be marked wrongly.
    fileprivate var bytesThatAreNotPlain: UInt64 {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let isBelowSpace = ~((self | highs) &- 0x20 &* ones)
        let isEquals = ~((self ^ 0x3D &* ones) &+ 0x7F &* ones)
        return (self | self &+ ones | isBelowSpace | isEquals) & highs
    }
}
