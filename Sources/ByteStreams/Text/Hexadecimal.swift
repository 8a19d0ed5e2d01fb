extension Sequence<UInt8> {
    /// The bytes in hexadecimal, in lower case, with two digits for each byte.
    package var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            digits.append((byte >> 4).hexadecimalDigit)
            digits.append((byte & 15).hexadecimalDigit)
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit, in either case; nil for any other character.
    @inlinable
    package var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// The ASCII digit, in lower case, of a value below 16.
    fileprivate var hexadecimalDigit: UInt8 { self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") + self - 10 }
}
