import ByteStreams

/// Searches plaintext for two marks: of binary parts, whose line ends must not be changed, and of parts with copies of hidden
/// header fields, which must be removed.
///
/// The duration depends on the plaintext, so `EncryptedLayer` must have accepted the plaintext before.
package final class PartMarks: ByteSink {
    private var tail: [UInt8] = []

    /// Whether the plaintext contains text like `Content-Transfer-Encoding: binary`, or like this field with an unknown value,
    /// or with a value too far from the name to be read. The text may be anywhere, not only in a header.
    package private(set) var mayHoldBinary = false
    /// Whether the plaintext contains text like the parameter `hp-legacy-display`. The text may be anywhere, not only in a
    /// header.
    package private(set) var mayHoldLegacyDisplay = false

    package init() {}

    package func write(_ bytes: Span<UInt8>) {
        guard !mayHoldBinary || !mayHoldLegacyDisplay else { return }
        // A word may be divided between two windows.
        var border = tail
        border.append(contentsOf: bytes.extracting(first: Self.examinedCount))
        lookFor(border.octets)
        lookFor(bytes)
        tail =
            bytes.count < Self.examinedCount
            ? Array(border.suffix(Self.examinedCount)) : Array(bytes.extracting(last: Self.examinedCount))
    }

    /// Searches for the words that follow a hyphen. Base64 contains no hyphens, so there are few places to check.
    private func lookFor(_ bytes: Span<UInt8>) {
        var position = 0
        while let found = bytes.firstOffset(of: 0x2D, from: position) {
            position = found + 1
            let following = bytes.extracting(position..<min(position + Self.examinedCount, bytes.count))
            if Self.isThere(Self.encoding, at: 0, in: following) {
                let field = following.extracting(droppingFirst: Self.encoding.count)
                mayHoldBinary = mayHoldBinary || Self.mayNameBinary(field, isCut: following.count == Self.examinedCount)
            } else if Self.isThere(Self.legacyDisplay, at: 0, in: following) {
                mayHoldLegacyDisplay = true
            }
        }
    }

    /// Whether `field`, which begins at the end of a field's name, may have the value `binary`. False only if it is not a
    /// field, or its value begins with another encoding. Blanks and comments of any length may precede the value, so the
    /// result is true if the value is out of reach.
    ///
    /// - Parameter isCut: whether `field` ends where `examinedCount` ends; otherwise it ends with the window, and the
    ///   next call of `lookFor` sees the field again.
    private static func mayNameBinary(_ field: Span<UInt8>, isCut: Bool) -> Bool {
        var position = 0
        while position < field.count, [9, 32].contains(field[position]) { position += 1 }
        guard position < field.count else { return isCut }
        guard field[position] == UInt8(ascii: ":") else { return false }
        position += 1
        while position < field.count, [9, 10, 13, 32].contains(field[position]) { position += 1 }
        guard position < field.count else { return isCut }
        let value = field.extracting(droppingFirst: position)
        if isBegun(binary, in: value) { return isCut || value.count >= binary.count }
        return !others.contains { isBegun($0, in: value) }
    }

    /// Whether `bytes` begins with `word`, or is a beginning of `word`, ignoring case.
    private static func isBegun(_ word: [UInt8], in bytes: Span<UInt8>) -> Bool {
        isThere(Array(word.prefix(bytes.count)), at: 0, in: bytes)
    }

    private static let legacyDisplay = Array("legacy-display".utf8)
    private static let encoding = Array("encoding".utf8)
    private static let binary = Array("binary".utf8)
    /// The encodings other than binary.
    private static let others = ["7bit", "8bit", "base64", "quoted-printable"].map { Array($0.utf8) }

    /// Whether `word`, which is in lower case, is at `index`, ignoring case.
    private static func isThere(_ word: [UInt8], at index: Int, in bytes: Span<UInt8>) -> Bool {
        guard index + word.count <= bytes.count else { return false }
        return word.indices.allSatisfy { bytes[index + $0] | 0x20 == word[$0] }
    }

    /// The number of bytes after a hyphen that are looked at.
    private static let examinedCount = 48
}
