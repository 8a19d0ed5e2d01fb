package import ByteStreams
import LibCrypto
import PKIX
import SwiftASN1

/// Writes CompressedData in DER. The content is compressed twice, the first time to determine its length.
///
/// RFC 3274 §1.1
package struct CompressedDataWriter {
    private let frame: DERFrame

    /// The length of the whole structure in bytes.
    package var count: Int { frame.count }

    /// Compresses the output of `content` to determine its length.
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
