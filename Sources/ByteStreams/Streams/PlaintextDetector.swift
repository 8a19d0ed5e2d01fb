/// Recognises content that cannot be ciphertext.
///
/// Ciphertext looks random. Content is considered plaintext in any of these cases (in brackets the probability that random
/// bytes are mistaken for it):
///
/// - 64 consecutive bytes are ASCII text (1 in 10^20 for messages of 1 MiB).
/// - It has at least 256 bytes, of which one value fills more than a sixteenth (1 in 10^12).
/// - It has at least 16 bytes, all of them ASCII text (1 in 10^6, and only for content that short).
///
/// Compressed data also looks random and is not recognised, since no entropy is estimated.
package final class PlaintextDetector: ByteSink {
    /// How many bytes of the content are examined.
    package static let maximumCount = 1 << 20
    private static let shortestRun = 64
    private static let shortestText = 16
    private static let shortestSample = 256

    private var counts = [Int](repeating: 0, count: 256)
    private var seen = 0
    private var run = 0
    private var longestRun = 0

    package init() {}

    package func write(_ bytes: Span<UInt8>) {
        for index in 0..<min(bytes.count, Self.maximumCount - seen) {
            let byte = bytes[index]
            counts[Int(byte)] += 1
            run = Self.isText(byte) ? run + 1 : 0
            longestRun = max(longestRun, run)
        }
        seen += min(bytes.count, Self.maximumCount - seen)
    }

    /// Whether the bytes written so far are considered plaintext.
    package var isPlaintext: Bool {
        if longestRun >= min(Self.shortestRun, max(seen, Self.shortestText)) { return true }
        return seen >= Self.shortestSample && (counts.max() ?? 0) > seen / 16
    }

    private static func isText(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) || [0x09, 0x0A, 0x0D].contains(byte)
    }
}
