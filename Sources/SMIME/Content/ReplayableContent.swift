import ByteStreams
import CMSSyntax
import InternetMessage
import LibCrypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Content that can be written repeatedly, with the same bytes each time.
struct ReplayableContent {
    let write: (any ByteSink) throws -> Void
    /// The digest and the number of the bytes; nil if the pass that determined the encoding did not compute them.
    var digest: (algorithm: DigestAlgorithm, value: [UInt8], count: Int)?
    /// The number of bytes; nil if the bytes must be written to count them.
    private let knownCount: Int?

    init(
        digest: (algorithm: DigestAlgorithm, value: [UInt8], count: Int)? = nil,
        count: Int? = nil,
        _ write: @escaping (any ByteSink) throws -> Void
    ) {
        self.write = write
        self.digest = digest
        knownCount = count
    }

    /// The digest and the number of the bytes.
    func digest(_ algorithm: DigestAlgorithm) throws -> (value: [UInt8], count: Int) {
        if let digest, digest.algorithm == algorithm { return (digest.value, digest.count) }
        return try SignedDataWriter.digest(algorithm, of: write)
    }

    /// The number of bytes.
    func count() throws -> Int {
        if let knownCount { return knownCount }
        let sink = CountingSink()
        try write(sink)
        return sink.count
    }

    /// The bytes as base64 text in lines that end in CRLF.
    var base64: ReplayableContent {
        ReplayableContent { sink in
            let encoder = Base64Encoder(sink, lineEnd: LineEnd.crlf.bytes)
            try write(encoder)
            try encoder.finish()
        }
    }
}

/// Receives lines with CRLF and passes them on with the line ends of the output.
///
/// The content always ends with a line end, so no carriage return is still held back at the end.
final class LineEndSink: ByteSink {
    private let downstream: any ByteSink
    private let lineEnd: LineEnd
    private lazy var window = Window()
    /// Whether a carriage return is held back because it may belong to a line end. A carriage return that does not belong to
    /// a line end is written unchanged.
    private var owesReturn = false

    init(_ downstream: any ByteSink, lineEnd: LineEnd) {
        self.downstream = downstream
        self.lineEnd = lineEnd
    }

    func write(_ bytes: Span<UInt8>) throws {
        guard lineEnd == .lf else { return try downstream.write(bytes) }
        // The output may be one byte longer than the input, by the carriage return that was held back.
        let (window, room) = (window, window.count - 1)
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.extracting(first: room)
            let count = drop(returnsOf: piece, into: window)
            try downstream.write(window.prefix(count))
            rest = rest.extracting(droppingFirst: piece.count)
        }
    }

    /// Writes `piece` to the start of `window` without the carriage returns of line ends.
    ///
    /// - Returns: the number of bytes written.
    private func drop(returnsOf piece: Span<UInt8>, into window: Window) -> Int {
        var output = window.bytes
        var (count, owesReturn) = (0, owesReturn)
        for index in piece.indices {
            let byte = piece[index]
            if owesReturn, byte != 10 {
                output[count] = 13
                count += 1
            }
            owesReturn = byte == 13
            if !owesReturn {
                output[count] = byte
                count += 1
            }
        }
        self.owesReturn = owesReturn
        return count
    }
}

extension ReplayableContent {
    /// A SignedData object over these bytes. If `isOpaque` is true, the object contains the bytes (RFC 5652 §5).
    func signed(by signer: SignedDataWriter.Signer, isOpaque: Bool, at time: Date) throws -> ReplayableContent {
        let (digest, count) = try self.digest(signer.digest)
        let writer = try SignedDataWriter(
            signer: signer,
            contentDigest: digest,
            contentCount: isOpaque ? count : nil,
            time: time
        )
        return ReplayableContent { try writer.write(to: $0, content: isOpaque ? write : nil) }
    }

    /// An EnvelopedData or AuthEnvelopedData object that holds these bytes (RFC 5652 §6, RFC 5083).
    func enveloped(to recipients: [Recipient], secrets: [SharedSecret], cipher: ContentCipher) throws
        -> ReplayableContent
    {
        let writer = try EnvelopedDataWriter(to: recipients, secrets: secrets, cipher: cipher, contentCount: count())
        return ReplayableContent { try writer.write(to: $0, content: write) }
    }
}

/// The bytes that a signature covers, with the source that contains them.
struct SignedBytes: Sendable {
    let stream: ByteStream
    let source: any ByteSource
}
