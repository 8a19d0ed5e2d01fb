import ByteStreams
import InternetMessage
import PKIX
import Synchronization

/// Inspects plaintext while it is decrypted, before its integrity is verified: whether it begins like a MIME entity, and
/// whether it is clean text. The duration does not depend on the plaintext.
package final class PlaintextObserver: ByteSink {
    private var head: [UInt8] = []
    private var text: CleanText?

    /// The number of bytes from the start in which the header must end.
    private static let headLimit = MIMELimit.headerBytes.rawValue + 1024

    /// - Parameter checksText: whether all bytes are inspected, or only the start of the plaintext.
    package init(checksText: Bool) {
        text = checksText ? CleanText() : nil
    }

    package func write(_ bytes: Span<UInt8>) {
        // The end of the header is searched for later, because that takes a time that depends on the plaintext.
        head.append(contentsOf: bytes.extracting(first: Self.headLimit - head.count))
        text?.scan(bytes)
    }

    /// Whether the plaintext begins like an entity, with a header field or with the empty line. If all bytes are inspected,
    /// there must be no control characters in its header either (see `EntityControls`).
    var startsEntity: Bool {
        let (begins, isClean) = (EntityStart.canBegin(with: head), EntityControls.areAbsent(in: head))
        return begins && (isClean || text == nil)
    }

    /// Whether the whole plaintext is clean text; nil if that was not checked.
    package var isCleanText: Bool? { text?.isClean }

    /// The header at the start of the plaintext; nil if the header is longer than the limit. The duration depends on the
    /// plaintext, so callers must check the integrity first.
    var header: HeaderBlock? { try? HeaderBlock(parsing: head) }
}

/// Records whether the base64 that was read lacks the padding that RFC 4648 §3.2 requires.
final class PaddingWatch: Sendable {
    private let isMissing = Atomic(false)

    /// Records that padding is missing.
    func note() { isMissing.store(true, ordering: .relaxed) }

    /// A warning if padding is missing; otherwise empty.
    var problems: [Problem] {
        guard isMissing.load(ordering: .relaxed) else { return [] }
        return [Problem(.base64Padding, "the base64 of the CMS object lacks its padding")]
    }
}

/// Checks whether bytes are clean text: UTF-8 (RFC 3629) without control characters except TAB, LF, FF and CR.
///
/// The caller passes all bytes in order, in windows of any size. The duration does not depend on the bytes, so plaintext may
/// be checked before its integrity is verified. A block of bytes is processed at once, without a branch.
package struct CleanText {
    /// Not 0 if an invalid byte was found.
    private var faults = TextBlock.Bytes()
    /// The last three checked bytes, followed by the bytes that are not checked yet.
    private var pending = [UInt8](repeating: 0x20, count: CleanText.context)

    /// The number of bytes before a byte that decide whether it is valid: a character has at most four bytes.
    private static let context = 3

    package init() {}

    /// Whether all bytes so far are clean text and the last character is complete.
    package var isClean: Bool {
        // A blank after an incomplete sequence is an error, because a continuation byte is missing.
        var copy = self
        copy.scan([UInt8](repeating: 0x20, count: TextBlock.count + Self.context).octets)
        // All words are joined before the comparison: comparing one after the other would end at the first fault.
        return (copy.faults[0] | copy.faults[1] | copy.faults[2] | copy.faults[3]) == 0
    }

    /// Checks the next bytes.
    package mutating func scan(_ bytes: Span<UInt8>) {
        var border = pending
        border.append(contentsOf: bytes.extracting(first: TextBlock.count + Self.context))
        var next = check(border.octets, from: Self.context)
        var last = border.octets
        if bytes.count > border.count - pending.count {
            next = check(bytes, from: next - pending.count)
            last = bytes
        }
        pending = Array(last.extracting((next - Self.context)..<last.count))
    }

    /// Checks whole blocks of `bytes` from `start`, and returns the offset of the first byte that was not checked.
    private mutating func check(_ bytes: Span<UInt8>, from start: Int) -> Int {
        // A local copy can stay in registers.
        var (found, next) = (faults, start)
        while next + TextBlock.count <= bytes.count {
            found |= TextBlock(bytes, at: next).faults
            next += TextBlock.count
        }
        faults = found
        return next
    }
}

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
