/// Recognises content that cannot be ciphertext.
///
/// The bytes of ciphertext look random. Content is taken for something else if it has 64 bytes of ASCII text in a row
/// (random bytes have them in one of 10^20 messages of 1 MiB), if one byte value fills more than a sixteenth of 256 bytes
/// or more (one of 10^12), or if it is 16 bytes or more of ASCII text and nothing else (one of 10^6, and only where the
/// content is that short). Compressed data looks random, too, and is not recognised: no entropy is estimated.
package final class PlaintextDetector: ByteSink {
    /// How much of the content is looked at, in bytes.
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

    /// Whether what was written so far is no ciphertext.
    package var isPlaintext: Bool {
        if longestRun >= min(Self.shortestRun, max(seen, Self.shortestText)) { return true }
        return seen >= Self.shortestSample && (counts.max() ?? 0) > seen / 16
    }

    private static func isText(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) || [0x09, 0x0A, 0x0D].contains(byte)
    }
}
