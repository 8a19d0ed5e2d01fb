import ByteStreams
import InternetMessage

/// Looks at plaintext as it passes: is it a MIME entity, and what may its parts be like?
package final class PlaintextObserver: ByteSink {
    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    private var text = CleanText()

    /// Whether something like `Content-Transfer-Encoding: binary` was met; it may stand anywhere.
    package private(set) var mayHoldBinary = false
    /// Whether something like the parameter `hp-legacy-display` was met; it may stand anywhere.
    package private(set) var mayHoldLegacyDisplay = false

    /// The largest header that is looked at.
    private static let headLimit = MIMELimit.headerBytes.rawValue + 1024

    package init() {}

    package func write(_ bytes: Span<UInt8>) {
        // The end of the header is searched later: before the check, no step's duration may depend on the plaintext.
        head.append(contentsOf: bytes.extracting(first: Self.headLimit - head.count))
        text.take(bytes)
        guard !mayHoldBinary || !mayHoldLegacyDisplay else { return }
        // The words may lie across two windows.
        var border = tail
        border.append(contentsOf: bytes.extracting(first: Self.reach))
        lookFor(border.octets)
        lookFor(bytes)
        tail = bytes.count < Self.reach ? Array(border.suffix(Self.reach)) : Array(bytes.extracting(last: Self.reach))
    }

    /// Whether the plaintext begins like an entity, with a field or with the empty line. Takes the same time for any
    /// plaintext.
    var startsEntity: Bool { EntityStart.isThere(in: head) }

    /// Whether the whole plaintext is clean text. Takes the same time for any plaintext.
    package var isCleanText: Bool { text.isClean }

    /// The header at the beginning; nil if it is beyond the limit. The time this takes depends on the plaintext, so it
    /// must only run on intact content.
    var header: HeaderBlock? { try? HeaderBlock(parsing: head) }

    /// Looks for what may follow a hyphen. That is no base64 character, so few are met.
    private func lookFor(_ bytes: Span<UInt8>) {
        var position = 0
        while let found = bytes.firstOffset(of: 0x2D, from: position) {
            position = found + 1
            let following = bytes.extracting(position..<min(position + Self.reach, bytes.count))
            // Millions of hyphens must not make this slow.
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

    /// Whether `word`, in lower case, is at `index` in any case.
    private static func isThere(_ word: [UInt8], at index: Int, in bytes: Span<UInt8>) -> Bool {
        guard index + word.count <= bytes.count else { return false }
        return word.indices.allSatisfy { bytes[index + $0] | 0x20 == word[$0] }
    }

    /// How many bytes after the hyphen of Transfer-Encoding the word is searched for.
    private static let reach = 48
}
