import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import TestSupport
import Testing

extension SignedDataWriter.Signer {
    /// A SignedData over `content` by this signer.
    func signed(_ content: [UInt8], isDetached: Bool = false, at time: Date) throws -> [UInt8] {
        let (value, count) = try SignedDataWriter.digest(digest) { try $0.write(content) }
        let writer = try SignedDataWriter(
            signer: self,
            contentDigest: value,
            contentCount: isDetached ? nil : count,
            time: time
        )
        let sink = MemorySink()
        try writer.write(to: sink, content: isDetached ? nil : { try $0.write(content) })
        #expect(sink.bytes.count == writer.count)
        return sink.bytes
    }
}

/// Test content of any length, without a period that could hide errors at window boundaries.
func sample(_ count: Int) -> [UInt8] {
    var state: UInt32 = 2_463_534_242
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        return UInt8(truncatingIfNeeded: state)
    }
}

extension ByteStream {
    init(_ bytes: [UInt8]) { self = MemorySource(bytes).stream() }

    func bytes() throws -> [UInt8] { try makeReader().readAll(limit: .max, orThrow: CancellationError()) }
}
