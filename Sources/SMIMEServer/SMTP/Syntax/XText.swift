/// The xtext encoding of parameter values: visible ASCII is unchanged, except + and =. All other bytes become `+` and two
/// hexadecimal digits.
///
/// RFC 3461 §4
enum XText {
    /// The decoded bytes of `text`; nil if it is not xtext.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var iterator = text.utf8.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+"):
                guard let high = iterator.next()?.hexadecimalValue, let low = iterator.next()?.hexadecimalValue else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "="), ...0x20, 0x7F...: return nil
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "+"), UInt8(ascii: "="), ...0x20, 0x7F...:
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.utf8.count == 1 ? "+0\(digits)" : "+\(digits)"
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return text
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit in either case; nil for any other byte.
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
