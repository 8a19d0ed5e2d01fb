/// Writes bytes as base64 text in lines of 64 characters (RFC 4648 §4, RFC 2045 §6.8).
package final class Base64Encoder: ByteSink {
    private static let lineBytes = 48

    private let downstream: any ByteSink
    private let lineEnd: [UInt8]
    private let output = Window()
    private var carry: [UInt8] = []

    /// An encoder that ends each line, including the last, with `lineEnd`.
    package init(_ downstream: any ByteSink, lineEnd: [UInt8]) {
        self.downstream = downstream
        self.lineEnd = lineEnd
        carry.reserveCapacity(Self.lineBytes)
    }

    /// The length of the base64 text for `count` bytes, including line ends. `lineEnd` is the length of one line end.
    package static func encodedCount(_ count: Int, lineEnd: Int) -> Int {
        (count + 2) / 3 * 4 + (count + lineBytes - 1) / lineBytes * lineEnd
    }

    package func write(_ bytes: Span<UInt8>) throws {
        var rest = bytes
        if !carry.isEmpty {
            let missing = rest.extracting(first: Self.lineBytes - carry.count)
            carry.append(contentsOf: missing)
            rest = rest.extracting(droppingFirst: missing.count)
            guard carry.count == Self.lineBytes else { return }
            try carry.withUnsafeBufferPointer { try encodeLines(Span(_unsafeElements: $0)) }
            carry.removeAll(keepingCapacity: true)
        }
        let whole = rest.count / Self.lineBytes * Self.lineBytes
        try encodeLines(rest.extracting(first: whole))
        carry.append(contentsOf: rest.extracting(droppingFirst: whole))
    }

    /// Writes the last line with its padding.
    package func finish() throws {
        guard !carry.isEmpty else { return }
        let padding = (3 - carry.count % 3) % 3
        let bytes = carry + [UInt8](repeating: 0, count: padding)
        carry.removeAll()
        var line: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let value = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            for shift in [18, 12, 6, 0] { line.append(Base64Alphabet.characters[value >> shift & 63]) }
        }
        line.replaceSubrange((line.count - padding)..., with: [UInt8](repeating: UInt8(ascii: "="), count: padding))
        try downstream.write(line + lineEnd)
    }

    /// Encodes a whole number of lines, as many at a time as fit into the window.
    private func encodeLines(_ bytes: Span<UInt8>) throws {
        let output = output
        let lineLength = Self.lineBytes / 3 * 4 + lineEnd.count
        let linesPerWindow = output.count / lineLength
        var lines = 0
        let total = bytes.count / Self.lineBytes
        while lines < total {
            let batch = min(linesPerWindow, total - lines)
            bytes.withUnsafeBytes { bytes in
                for line in 0..<batch {
                    encodeLine(bytes, from: (lines + line) * Self.lineBytes, to: line * lineLength)
                }
            }
            try downstream.write(output.prefix(batch * lineLength))
            lines += batch
        }
    }

    private func encodeLine(_ bytes: UnsafeRawBufferPointer, from start: Int, to target: Int) {
        guard let source = bytes.baseAddress?.advanced(by: start), let out = output.storage.baseAddress else { return }
        Base64Alphabet.pairs.withUnsafeBufferPointer { pairs in
            guard let pairs = pairs.baseAddress else { return }
            var to = target
            for from in stride(from: 0, to: Self.lineBytes, by: 3) {
                let value =
                    Int(source.load(fromByteOffset: from, as: UInt8.self)) << 16
                    | Int(source.load(fromByteOffset: from + 1, as: UInt8.self)) << 8
                    | Int(source.load(fromByteOffset: from + 2, as: UInt8.self))
                let text = UInt32(pairs[value >> 12]) | UInt32(pairs[value & 0xFFF]) << 16
                out.storeBytes(of: text.littleEndian, toByteOffset: to, as: UInt32.self)
                to += 4
            }
            for (offset, byte) in lineEnd.enumerated() {
                out.storeBytes(of: byte, toByteOffset: to + offset, as: UInt8.self)
            }
        }
    }
}

extension Array<UInt8> {
    /// Decodes a base64 text as `Base64Decoder` does.
    ///
    /// - Throws: `StreamError.malformedBase64`
    package init(base64 text: some Collection<UInt8>) throws {
        let decoder = Base64Decoder(MemorySource(Array(text)).reader())
        self = try decoder.readAll(limit: .max, orThrow: StreamError.malformedBase64)
    }
}

/// Tables for encoding and decoding base64 (RFC 4648 §4).
enum Base64Alphabet {
    /// The character of each six-bit value.
    static let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value in `values` of bytes that are not base64 characters and are skipped.
    static let skipped: UInt8 = 0x80
    static let padding: UInt8 = 0x81
    static let invalid: UInt8 = 0xFF

    /// The six-bit value of each byte, or one of the marks above for other bytes.
    static let values: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, character) in characters.enumerated() { table[Int(character)] = UInt8(value) }
        for blank in " \t\r\n".utf8 { table[Int(blank)] = skipped }
        table[Int(UInt8(ascii: "="))] = padding
        return table
    }()

    /// The twelve-bit value of each pair of characters; the first character is the low byte of the index. The top bit marks
    /// pairs that are not base64. The entries of valid pairs are close together, so they fit into the fastest cache.
    static let pairValues: [UInt16] = {
        var table = [UInt16](repeating: .max, count: 1 << 16)
        for (high, first) in characters.enumerated() {
            for (low, second) in characters.enumerated() {
                table[Int(second) << 8 | Int(first)] = UInt16(high << 6 | low)
            }
        }
        return table
    }()

    /// The two characters of each twelve-bit value, the first one in the low byte.
    static let pairs: [UInt16] = (0..<4096).map { value in
        UInt16(characters[value >> 6]) | UInt16(characters[value & 63]) << 8
    }
}

extension UInt8 {
    /// The six-bit value of a base64 character; nil for any other byte.
    package var base64Value: UInt8? {
        let value = Base64Alphabet.values[Int(self)]
        return value < 64 ? value : nil
    }
}
