/// Recognizes content that cannot be ciphertext.
///
/// Ciphertext looks random. Content is considered plaintext in any of these cases. The numbers in parentheses are the
/// probability that random bytes are considered plaintext.
///
/// - 64 consecutive bytes are ASCII text (1 in 10^20 for messages of 1 MiB).
/// - The content has at least 256 bytes, and one value fills more than a sixteenth of them (1 in 10^12).
/// - The content has at least 16 bytes, all of them ASCII text (1 in 10^6 for 16 bytes).
///
/// Compressed data looks random, too, and is not recognized as plaintext: the detector does not estimate entropy.
package final class PlaintextDetector: ByteSink {
    /// The number of bytes of the content that are examined.
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
