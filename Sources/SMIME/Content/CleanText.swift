import ByteStreams

/// Checks whether bytes are clean text: UTF-8 (RFC 3629) without control characters except TAB, LF, FF and CR.
///
/// The caller passes all bytes in order, in windows of any size. The duration does not depend on the bytes, so plaintext may
/// be checked before its integrity is verified. Eight bytes are processed at once, without a branch.
package struct CleanText {
    /// The top bit of each byte of a word.
    private static let tops: UInt64 = 0x8080_8080_8080_8080
    /// The number 1 in each byte of a word.
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Marks the bytes of a word that begin a multi-byte sequence, grouped by the sequence's length or by the bytes that may
    /// follow. A mark is the top bit of the byte.
    private struct Leads {
        /// The lead bytes of sequences of at least two bytes (`two`), at least three bytes (`three`), and four bytes
        /// (`four`).
        var two: UInt64 = 0
        var three: UInt64 = 0
        var four: UInt64 = 0
        /// The lead byte is C2 or E0: no byte below A0 may follow.
        var beforeA0: UInt64 = 0
        /// The lead byte is ED: no byte from A0 on may follow.
        var fromA0: UInt64 = 0
        /// The lead byte is F0: no byte below 90 may follow.
        var before90: UInt64 = 0
        /// The lead byte is F4: no byte from 90 on may follow.
        var from90: UInt64 = 0
    }

    /// Not 0 if an invalid byte was found.
    private var faults: UInt64 = 0
    /// The lead bytes in the previous word.
    private var before = Leads()
    /// The bytes that do not fill a word yet, with the first byte in the lowest place, and their number.
    private var pending: (word: UInt64, count: Int) = (0, 0)

    package init() {}

    /// Whether all bytes so far are clean text and the last character is complete.
    package var isClean: Bool {
        // A blank after an incomplete sequence is an error, because a continuation byte is missing.
        var copy = self
        for _ in copy.pending.count..<8 { copy.take(0x20) }
        return copy.faults == 0
    }

    /// Checks the next bytes.
    package mutating func take(_ bytes: Span<UInt8>) {
        var index = 0
        while index < bytes.count, pending.count > 0 {
            take(bytes[index])
            index += 1
        }
        // A local copy can stay in registers.
        var copy = self
        while index + 8 <= bytes.count {
            copy.take(word: bytes.word(at: index))
            index += 8
        }
        self = copy
        while index < bytes.count {
            take(bytes[index])
            index += 1
        }
    }

    private mutating func take(_ byte: UInt8) {
        pending.word |= UInt64(byte) << UInt64(8 * pending.count)
        pending.count += 1
        guard pending.count == 8 else { return }
        let word = pending.word
        pending = (0, 0)
        take(word: word)
    }

    /// Checks eight bytes (RFC 3629 §4). Each byte shows whether it is a continuation, and the bytes before it show whether a
    /// continuation must follow. U+0080 to U+009F are control characters, too.
    @inline(__always)
    private mutating func take(word: UInt64) {
        let (tops, ones) = (Self.tops, Self.ones)
        let high = word & tops
        let low = word & ~tops
        // In each sum the top bit of a byte is set if the lower seven bits of `word` are at least the number in the name.
        let from09 = low &+ ones &* 0x77
        let from0B = low &+ ones &* 0x75
        let from0C = low &+ ones &* 0x74
        let from0E = low &+ ones &* 0x72
        let from10 = low &+ ones &* 0x70
        let from20 = low &+ ones &* 0x60
        let from40 = low &+ ones &* 0x40
        let from42 = low &+ ones &* 0x3E
        let from43 = low &+ ones &* 0x3D
        let from60 = low &+ ones &* 0x20
        let from61 = low &+ ones &* 0x1F
        let from6D = low &+ ones &* 0x13
        let from6E = low &+ ones &* 0x12
        let from70 = low &+ ones &* 0x10
        let from71 = low &+ ones &* 0x0F
        let from74 = low &+ ones &* 0x0C
        let from75 = low &+ ones &* 0x0B
        let from7F = low &+ ones

        let isLineOrTab = (from09 & ~from0B) | (from0C & ~from0E)
        let control = ~high & ((~from20 & ~isLineOrTab) | from7F)
        let continuation = high & ~from40

        var leads = Leads()
        leads.two = high & from40
        leads.three = high & from60
        leads.four = high & from70
        leads.beforeA0 = high & ((from42 & ~from43) | (from60 & ~from61))
        leads.fromA0 = high & from6D & ~from6E
        leads.before90 = high & from70 & ~from71
        leads.from90 = high & from74 & ~from75
        // C0 and C1 begin overlong sequences. F5 and higher bytes begin sequences beyond U+10FFFF.
        let never = high & ((from40 & ~from42) | from75)

        let second = leads.two << 8 | before.two >> 56
        let third = leads.three << 16 | before.three >> 48
        let fourth = leads.four << 24 | before.four >> 40
        let misplaced = continuation ^ (second | third | fourth)
        let wrongSecond =
            (leads.beforeA0 << 8 | before.beforeA0 >> 56) & ~from20
            | (leads.fromA0 << 8 | before.fromA0 >> 56) & from20
            | (leads.before90 << 8 | before.before90 >> 56) & ~from10
            | (leads.from90 << 8 | before.from90 >> 56) & from10
        faults |= (control | never | misplaced | wrongSecond) & tops
        before = leads
    }
}
