/// Looks at bytes as they pass: are they clean text, UTF-8 (RFC 3629) without control characters but TAB, LF, FF and CR?
///
/// It is shown all the bytes in turn, in windows of any size. It takes the same time whatever they are, and so may look at
/// plaintext that was not found intact yet.
package struct CleanText {
    /// Not 0 once a byte was met that does not belong there.
    private var faults: UInt8 = 0
    /// The last three bytes, the latest first.
    private var last: (UInt8, UInt8, UInt8) = (0, 0, 0)

    package init() {}

    /// Whether all the bytes that were shown are clean text, and the last character is whole.
    package var isClean: Bool {
        let isCut = last.0 >= 0xC0 || last.1 >= 0xE0 || last.2 >= 0xF0
        return faults == 0 && !isCut
    }

    /// Looks at the next bytes.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes.prefix(3) {
            faults |= Self.fault(byte, after: last.0, last.1, last.2)
            last = (byte, last.0, last.1)
        }
        guard bytes.count > 3 else { return }
        var faults = self.faults
        for index in 3..<bytes.count {
            faults |= Self.fault(bytes[index], after: bytes[index - 1], bytes[index - 2], bytes[index - 3])
        }
        self.faults = faults
        let count = bytes.count
        last = (bytes[count - 1], bytes[count - 2], bytes[count - 3])
    }

    /// 1 if `byte` may not stand behind the three before it, the latest of them first; else 0.
    ///
    /// RFC 3629 §4 in comparisons without a branch: each byte says whether it is a continuation, and those before it say
    /// whether one must follow. U+0080 to U+009F are control characters, too.
    @inline(__always)
    private static func fault(_ byte: UInt8, after one: UInt8, _ two: UInt8, _ three: UInt8) -> UInt8 {
        let isLow: UInt8 = byte < 0x20 ? 1 : 0
        let isTabOrLine: UInt8 = byte &- 9 < 2 ? 1 : 0
        let isPageOrReturn: UInt8 = byte &- 12 < 2 ? 1 : 0
        let isDelete: UInt8 = byte == 0x7F ? 1 : 0
        let isControl = (isLow & ~(isTabOrLine | isPageOrReturn)) | isDelete

        let continues: UInt8 = byte & 0xC0 == 0x80 ? 1 : 0
        let second: UInt8 = one >= 0xC0 ? 1 : 0
        let third: UInt8 = two >= 0xE0 ? 1 : 0
        let fourth: UInt8 = three >= 0xF0 ? 1 : 0
        let isMisplaced = continues ^ (second | third | fourth)

        // Leads of overlong sequences, and of those beyond U+10FFFF.
        let isOverlong: UInt8 = byte &- 0xC0 < 2 ? 1 : 0
        let isBeyond: UInt8 = byte >= 0xF5 ? 1 : 0

        // Second bytes that make a control character, an overlong sequence, a surrogate, or what lies beyond U+10FFFF.
        let isBelowA0: UInt8 = byte < 0xA0 ? 1 : 0
        let isBelow90: UInt8 = byte < 0x90 ? 1 : 0
        let afterC2: UInt8 = one == 0xC2 ? 1 : 0
        let afterE0: UInt8 = one == 0xE0 ? 1 : 0
        let afterED: UInt8 = one == 0xED ? 1 : 0
        let afterF0: UInt8 = one == 0xF0 ? 1 : 0
        let afterF4: UInt8 = one == 0xF4 ? 1 : 0
        let isWrongSecond =
            ((afterC2 | afterE0) & isBelowA0) | (afterED & (isBelowA0 ^ 1))
            | (afterF0 & isBelow90) | (afterF4 & (isBelow90 ^ 1))
        return isControl | isMisplaced | isOverlong | isBeyond | isWrongSecond
    }
}
