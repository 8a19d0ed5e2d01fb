import ByteStreams

/// 32 bytes that are checked at once, without a branch, for what clean text must not contain (see `CleanText`).
///
/// Whether a byte is valid depends on the three bytes before it. A byte is marked by its top bit; its other bits have no
/// meaning.
struct TextBlock {
    typealias Bytes = SIMD4<UInt64>

    /// The number of bytes.
    static let count = 32

    /// The bytes, and for each the byte that is one, two and three places before it.
    private let byte, previous, second, third: Bytes

    /// The block at `offset`, which is at least 3.
    @inline(__always)
    init(_ bytes: Span<UInt8>, at offset: Int) {
        byte = bytes.block(at: offset)
        previous = bytes.block(at: offset - 1)
        second = bytes.block(at: offset - 2)
        third = bytes.block(at: offset - 3)
    }

    /// Marks bytes that must not be where they are (RFC 3629 §4). U+0080 to U+009F are control characters, too.
    @inline(__always)
    var faults: Bytes {
        let (high, low) = (byte & Self.tops, byte & ~Self.tops)
        let isLineOrTab =
            (Self.marks(low, from: 0x09) & ~Self.marks(low, from: 0x0B))
            | (Self.marks(low, from: 0x0C) & ~Self.marks(low, from: 0x0E))
        let from20 = Self.marks(low, from: 0x20)
        let control = ~high & (~(from20 | isLineOrTab) | Self.marks(low, from: 0x7F))
        let continuation = high & ~Self.marks(low, from: 0x40)
        // C0 and C1 begin overlong sequences. F5 and higher bytes begin sequences beyond U+10FFFF.
        let never = high & (Self.marks(low, equalTo: 0x40, 0x41) | Self.marks(low, from: 0x75))
        let wrong = wrongContinuations(from20: from20, from10: Self.marks(low, from: 0x10))
        return (control | never | wrong | (continuation ^ continuations)) & Self.tops
    }

    /// Marks the places where a continuation must be: one place after a byte from C0 on, two places after a byte from E0 on,
    /// three places after a byte from F0 on.
    @inline(__always)
    private var continuations: Bytes {
        (previous & Self.marks(previous & ~Self.tops, from: 0x40))
            | (second & Self.marks(second & ~Self.tops, from: 0x60))
            | (third & Self.marks(third & ~Self.tops, from: 0x70))
    }

    /// Marks continuations that must not follow their lead byte: below A0 after C2 or E0, from A0 on after ED, below 90 after
    /// F0, from 90 on after F4.
    @inline(__always)
    private func wrongContinuations(from20: Bytes, from10: Bytes) -> Bytes {
        let lead = previous & ~Self.tops
        let needsA0 = Self.marks(lead, equalTo: 0x42) | Self.marks(lead, equalTo: 0x60)
        let endsAtA0 = Self.marks(lead, equalTo: 0x6D)
        let needs90 = Self.marks(lead, equalTo: 0x70)
        let endsAt90 = Self.marks(lead, equalTo: 0x74)
        return previous
            & ((needsA0 & ~from20) | (endsAtA0 & from20) | (needs90 & ~from10) | (endsAt90 & from10))
    }

    /// The top bit of each byte.
    private static var tops: Bytes { Bytes(repeating: 0x8080_8080_8080_8080) }

    /// Marks the bytes that are at least `number`. The top bits of `low` are 0, and `number` is at most 0x80.
    @inline(__always)
    private static func marks(_ low: Bytes, from number: UInt64) -> Bytes {
        low &+ Bytes(repeating: (0x80 &- number) &* 0x0101_0101_0101_0101)
    }

    /// Marks the bytes from `first` to `last`. If `last` is nil, marks the bytes equal to `first`.
    @inline(__always)
    private static func marks(_ low: Bytes, equalTo first: UInt64, _ last: UInt64? = nil) -> Bytes {
        marks(low, from: first) & ~marks(low, from: (last ?? first) &+ 1)
    }
}

extension Span<UInt8> {
    /// The bytes at `offset`, with the first byte of each word in its lowest place.
    @inline(__always)
    fileprivate func block(at offset: Int) -> TextBlock.Bytes {
        TextBlock.Bytes(
            word(at: offset),
            word(at: offset + 8),
            word(at: offset + 16),
            word(at: offset + 24)
        )
    }
}
