import ByteStreams
import LibCrypto
import PKIX

/// Hashes content with several digests at once.
final class ContentHasher: ByteSink {
    private let digesters: [Digester]
    private let keepsContent: Bool
    private var kept: [UInt8] = []
    private var head: [UInt8] = []
    private var count = 0

    /// The maximum length in bytes of content that is kept for `wholeContent`, because libcrypto requires it in one piece.
    static let maximumKept = 8 << 20

    init(_ algorithms: Set<DigestAlgorithm>, keepsContent: Bool = false) throws(OpenSSLError) {
        self.keepsContent = keepsContent
        var digesters: [Digester] = []
        for algorithm in algorithms { digesters.append(try Digester(algorithm)) }
        self.digesters = digesters
    }

    func write(_ bytes: Span<UInt8>) throws {
        for digester in digesters { try digester.update(bytes) }
        head.append(contentsOf: bytes.extracting(first: Self.headCount - head.count))
        count += bytes.count
        if keepsContent { kept.append(contentsOf: bytes.extracting(first: Self.maximumKept - kept.count)) }
    }

    func finish() throws(OpenSSLError) -> [DigestAlgorithm: [UInt8]] {
        var values: [DigestAlgorithm: [UInt8]] = [:]
        for digester in digesters { values[digester.algorithm] = try digester.finish() }
        return values
    }

    /// The whole content; nil if it was not to be kept, or is longer than `maximumKept`.
    var wholeContent: [UInt8]? { keepsContent && count == kept.count ? kept : nil }

    /// Whether the content is one SET whose first element is a SEQUENCE that begins with an OBJECT IDENTIFIER, like signed
    /// attributes.
    var resemblesAttributes: Bool {
        guard head.first == 0x31, let set = try? ElementExtent.Header(head, at: 0, limit: count),
            set.end == count, let first = try? ElementExtent.Header(head, at: set.content, limit: count)
        else { return false }
        return first.identifier == 0x30 && first.content < head.count && head[first.content] == 0x06
    }

    /// The number of bytes kept of the start of the content; two ASN.1 headers are shorter.
    private static let headCount = 32
}
