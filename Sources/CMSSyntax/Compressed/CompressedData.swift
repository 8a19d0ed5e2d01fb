package import ByteStreams
import LibCrypto
import PKIX
import SwiftASN1

/// A compressed message, read up to the content.
///
/// RFC 3274
package struct CompressedData: Sendable {
    /// The maximum number of decompressed bytes for each compressed byte.
    package static let maximumRatio = 200
    /// The maximum number of decompressed bytes.
    package static let maximumCount = 4 << 30
    /// The number of decompressed bytes that are always allowed, because short uniform content is compressed to almost
    /// nothing.
    package static let allowance = 1 << 20

    static let zlib: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 3, 8]

    private let stream: ByteStream
    private let limit: Int

    /// Reads `stream` up to the compressed content.
    ///
    /// - Parameter limit: the maximum number of decompressed bytes.
    /// - Throws: `CMSError.malformed`, `CMSError.unsupported`, and errors of reading.
    package init(reading stream: ByteStream, limit: Int = CompressedData.maximumCount) throws {
        self.stream = stream
        self.limit = min(limit, Self.maximumCount)
        _ = try reporting(.cms) { try Self.enter(BERReader(stream.makeReader())) }
    }

    /// The content, which is decompressed while it is read. Reading throws `CMSError.malformed` if the content is damaged or
    /// does not end where it should, and `CMSError.limitExceeded` if it exceeds a limit.
    package var content: ByteStream {
        ByteStream {
            let reader = BERReader(try stream.makeReader())
            return try reporting(.cms) { try DecompressingReader(reader, Self.enter(reader), limit: limit) }
        }
    }

    /// Reads everything before the compressed octets.
    private static func enter(_ reader: BERReader) throws -> OctetStringReader {
        try reader.enter(.sequence)
        guard try ASN1ObjectIdentifier(berEncoded: reader.readNode()) == ASN1ObjectIdentifier.ContentType.compressedData
        else { throw CMSError.malformed(.cms, "not a compressed message") }
        try reader.enter(.context(0))
        try reader.enter(.sequence)
        _ = try Int(berEncoded: reader.readNode())
        let algorithm = try AlgorithmIdentifier(berEncoded: reader.readNode())
        guard algorithm.algorithm == zlib else {
            throw CMSError.unsupported("compression \(algorithm.displayName)")
        }
        try reader.enter(.sequence)
        _ = try ASN1ObjectIdentifier(berEncoded: reader.readNode())
        try reader.enter(.context(0))
        return try OctetStringReader(reader, identifier: .octetString)
    }
}

/// Decompresses the content while it is read.
private final class DecompressingReader: ByteReader {
    private let reader: BERReader
    private let compressed: OctetStringReader
    private let limit: Int
    private let zlib: ZlibStream
    private let input = Window()
    private var pending = 0..<0
    private var consumed = 0
    private var produced = 0
    private var isAtEnd = false

    init(_ reader: BERReader, _ compressed: OctetStringReader, limit: Int) throws {
        self.reader = reader
        self.compressed = compressed
        self.limit = limit
        zlib = try ZlibStream(compresses: false)
    }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        try reporting(.cms) { try decompress(into: &buffer) }
    }

    private func decompress(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        let input = input
        while !isAtEnd, !buffer.isEmpty {
            if pending.isEmpty { pending = 0..<(try input.fill(from: compressed)) }
            let step = try zlib.step(input[pending], into: &buffer)
            guard step.isAtEnd || step.consumed + step.produced > 0 else {
                throw CMSError.malformed(.cms, "the compressed content is cut off")
            }
            pending = pending.dropFirst(step.consumed)
            consumed += step.consumed
            produced += step.produced
            try checkSize()
            if step.isAtEnd { try finish() }
            if step.produced > 0 { return step.produced }
        }
        return 0
    }

    private func checkSize() throws {
        guard produced <= limit else { throw CMSError.limitExceeded("\(limit) bytes of decompressed content") }
        guard produced <= max(CompressedData.allowance, consumed * CompressedData.maximumRatio) else {
            throw CMSError.limitExceeded("compression by more than 1:\(CompressedData.maximumRatio)")
        }
    }

    /// Requires that the compressed stream and the structure around it end here.
    private func finish() throws {
        isAtEnd = true
        guard pending.isEmpty, try input.fill(from: compressed) == 0 else {
            throw CMSError.malformed(.cms, "bytes follow the compressed content")
        }
        for _ in 0..<5 { try reader.leave() }
    }
}

/// Writes CompressedData in DER. The content is compressed twice, the first time to determine the compressed length.
///
/// RFC 3274 §1.1
package struct CompressedDataWriter {
    private let frame: DERFrame

    /// The length of the whole structure in bytes.
    package var count: Int { frame.count }

    /// Compresses the output of `content` to determine the compressed length.
    package init(content: (any ByteSink) throws -> Void) throws {
        let counter = CountingSink()
        let compressor = try DeflatingSink(counter)
        try content(compressor)
        try compressor.finish()
        var frame = DERFrame(.octetString, contentCount: counter.count)
        frame.wrap(.context(0))
        frame.wrap(.sequence, before: try der { try $0.serialize(ASN1ObjectIdentifier.ContentType.data) })
        let preamble = try der { coder in
            try coder.serialize(0)
            try coder.serialize(AlgorithmIdentifier(CompressedData.zlib))
        }
        frame.wrap(.sequence, before: preamble)
        frame.wrap(.context(0))
        frame.wrap(.sequence, before: try der { try $0.serialize(ASN1ObjectIdentifier.ContentType.compressedData) })
        self.frame = frame
    }

    /// Writes the structure around the output of `content`, which must be the same as in the first pass.
    ///
    /// - Throws: `StreamError.changedWhileReading` if the compressed length differs.
    package func write(to sink: any ByteSink, content: (any ByteSink) throws -> Void) throws {
        try sink.write(frame.prefix)
        let compressor = try DeflatingSink(sink)
        try content(compressor)
        try compressor.finish()
        guard compressor.count == frame.contentCount else { throw StreamError.changedWhileReading }
        try sink.write(frame.suffix)
    }
}

/// Compresses the bytes written to it, one window after the other.
private final class DeflatingSink: ByteSink {
    /// The number of compressed bytes.
    private(set) var count = 0
    private let downstream: any ByteSink
    private let zlib: ZlibStream
    private let output = Window()

    init(_ downstream: any ByteSink) throws {
        self.downstream = downstream
        zlib = try ZlibStream(compresses: true)
    }

    func write(_ bytes: Span<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let step = try step(rest, isLast: false)
            rest = rest.extracting(droppingFirst: step.consumed)
        }
    }

    func finish() throws {
        while try !step(Span(), isLast: true).isAtEnd {}
    }

    private func step(_ input: Span<UInt8>, isLast: Bool) throws -> ZlibStream.Step {
        let output = output
        var room = output.bytes
        let step = try zlib.step(input, into: &room, isLast: isLast)
        count += step.produced
        if step.produced > 0 { try downstream.write(output.prefix(step.produced)) }
        return step
    }
}
