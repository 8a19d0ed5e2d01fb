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
