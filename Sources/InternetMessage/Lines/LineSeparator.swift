/// Characters that end a line for some programs, but not in mail: vertical tab, form feed, FS, GS, RS, NEL (U+0085), LS
/// (U+2028) and PS (U+2029).
///
/// RFC 5322 §2.1, UAX #14 (BK, NL)
package enum LineSeparator {
    /// `bytes` divided at line feeds, carriage returns and these characters, without empty pieces.
    ///
    /// A byte 0x85 outside of a UTF-8 character counts as NEL, which it is in ISO 8859-1.
    package static func pieces(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var position = start
        while position < bytes.endIndex {
            let (count, endsLine) = character(at: position, in: bytes)
            if endsLine {
                if start < position { pieces.append(bytes[start..<position]) }
                start = position + count
            }
            position += count
        }
        if start < bytes.endIndex { pieces.append(bytes[start...]) }
        return pieces
    }

    /// Whether `bytes` may contain one of these characters. This is a quick test, because most mail contains none.
    package static func mayStand(in bytes: ArraySlice<UInt8>) -> Bool {
        bytes.contains { byte in
            switch byte {
            case 0x0B, 0x0C, 0x1C...0x1E, 0x85, 0xA8, 0xA9: true
            default: false
            }
        }
    }

    /// The length of the character at `position` in bytes, and whether the character ends a line. A byte that is not part of
    /// a UTF-8 character is a character of its own.
    private static func character(at position: Int, in bytes: ArraySlice<UInt8>) -> (count: Int, endsLine: Bool) {
        let first = bytes[position]
        guard first >= 0x80 else {
            let endsLine = 0x0A...0x0D ~= first || 0x1C...0x1E ~= first
            return (1, endsLine)
        }
        let rest = bytes[(position + 1)...].prefix(3)
        let count =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        let isCharacter =
            count > 1 && rest.count >= count - 1 && rest.prefix(count - 1).allSatisfy { 0x80...0xBF ~= $0 }
            && isSecond(rest.first, behind: first)
        guard isCharacter else { return (1, first == 0x85) }
        let tail = Array(rest.prefix(count - 1))
        let isSeparator =
            first == 0xC2 && tail == [0x85] || first == 0xE2 && (tail == [0x80, 0xA8] || tail == [0x80, 0xA9])
        return (count, isSeparator)
    }

    /// Whether `second` may follow `first` in a UTF-8 character: overlong forms and surrogates are not allowed (RFC 3629 §4).
    private static func isSecond(_ second: UInt8?, behind first: UInt8) -> Bool {
        guard let second else { return false }
        return switch first {
        case 0xE0: second >= 0xA0
        case 0xED: second <= 0x9F
        case 0xF0: second >= 0x90
        case 0xF4: second <= 0x8F
        default: true
        }
    }
}
