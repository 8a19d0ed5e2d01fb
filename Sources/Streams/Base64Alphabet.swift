/// The base64 alphabet in both directions (RFC 4648 §4).
enum Base64Alphabet {
    /// The character of each six-bit value.
    static let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// What a byte that is no base64 character stands for in `values`.
    static let skipped: UInt8 = 0x80
    static let padding: UInt8 = 0x81
    static let invalid: UInt8 = 0xFF

    /// The six-bit value of each byte, or one of the marks above.
    static let values: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, character) in characters.enumerated() { table[Int(character)] = UInt8(value) }
        for blank in " \t\r\n".utf8 { table[Int(blank)] = skipped }
        table[Int(UInt8(ascii: "="))] = padding
        return table
    }()

    /// For each of the four places of a quantum, the bits that a byte contributes to its 24; the top bit marks bytes
    /// that are not of the alphabet. One look-up and one OR a character.
    static let quanta: [UInt32] = {
        var table = [UInt32](repeating: 1 << 31, count: 1024)
        for (value, character) in characters.enumerated() {
            for place in 0..<4 { table[place * 256 + Int(character)] = UInt32(value) << UInt32(18 - 6 * place) }
        }
        return table
    }()

    /// The two characters of each twelve-bit value, low byte first.
    static let pairs: [UInt16] = (0..<4096).map { value in
        UInt16(characters[value >> 6]) | UInt16(characters[value & 63]) << 8
    }
}
