import ByteStreams

/// Searches plaintext for two marks: of binary parts, whose line ends must not be changed, and of parts with copies of hidden
/// header fields, which must be removed.
///
/// The duration depends on the plaintext, so `EncryptedLayer` must have accepted the plaintext before.
package final class PartMarks: ByteSink {
    private var tail: [UInt8] = []

    /// Whether the plaintext contains text like `Content-Transfer-Encoding: binary`. The text may be anywhere, not only in a
    /// header.
    package private(set) var mayHoldBinary = false
    /// Whether the plaintext contains text like the parameter `hp-legacy-display`. The text may be anywhere, not only in a
    /// header.
    package private(set) var mayHoldLegacyDisplay = false

    package init() {}

    package func write(_ bytes: Span<UInt8>) {
        guard !mayHoldBinary || !mayHoldLegacyDisplay else { return }
        // A word may be divided between two windows.
        var border = tail
        border.append(contentsOf: bytes.extracting(first: Self.reach))
        lookFor(border.octets)
        lookFor(bytes)
        tail = bytes.count < Self.reach ? Array(border.suffix(Self.reach)) : Array(bytes.extracting(last: Self.reach))
    }

    /// Searches for the words that follow a hyphen. Base64 contains no hyphens, so there are few places to check.
    private func lookFor(_ bytes: Span<UInt8>) {
        var position = 0
        while let found = bytes.firstOffset(of: 0x2D, from: position) {
            position = found + 1
            let following = bytes.extracting(position..<min(position + Self.reach, bytes.count))
            // The full search runs only after `encoding` was found; otherwise millions of hyphens would make the search slow.
            if Self.isThere(Self.encoding, at: 0, in: following) {
                mayHoldBinary =
                    mayHoldBinary || (0..<following.count).contains { Self.isThere(Self.binary, at: $0, in: following) }
            } else if Self.isThere(Self.legacyDisplay, at: 0, in: following) {
                mayHoldLegacyDisplay = true
            }
        }
    }

    private static let legacyDisplay = Array("legacy-display".utf8)
    private static let encoding = Array("encoding".utf8)
    private static let binary = Array("binary".utf8)

    /// Whether `word`, which is in lower case, is at `index`, in any case.
    private static func isThere(_ word: [UInt8], at index: Int, in bytes: Span<UInt8>) -> Bool {
        guard index + word.count <= bytes.count else { return false }
        return word.indices.allSatisfy { bytes[index + $0] | 0x20 == word[$0] }
    }

    /// The number of bytes after the hyphen of `Transfer-Encoding` in which `binary` is searched for.
    private static let reach = 48
}
