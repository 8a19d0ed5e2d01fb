import ByteStreams

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
