import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import TestSupport
import Testing

@Suite struct CompressedDataTests {
    private func compress(_ content: [UInt8]) throws -> [UInt8] {
        let writer = try CompressedDataWriter { try $0.write(content) }
        let sink = MemorySink()
        try writer.write(to: sink) { try $0.write(content) }
        #expect(sink.bytes.count == writer.count)
        return sink.bytes
    }

    private func decompress(_ message: ByteStream, limit: Int = CompressedData.maximumCount) throws -> [UInt8] {
        try CompressedData(reading: message, limit: limit).content.bytes()
    }

    @Test(arguments: [0, 1, 1000, 70_000, 500_000])
    func `compressed content is restored, in pieces of any size`(count: Int) throws {
        let text = Array(String(repeating: "a line of text\r\n", count: count / 16).utf8) + sample(count / 4)
        let message = try compress(text)
        #expect(try decompress(ByteStream(message)) == text)
        #expect(try decompress(ByteStream(message).inPieces(of: 7)) == text)
    }

    /// A single stored block, as written by programs that do not compress, in a structure assembled here.
    @Test func `compressed data of other programs is read`() throws {
        let body = Array("plain".utf8)
        let stored: [UInt8] = [0x78, 0x01, 0x01, 5, 0, 0xFA, 0xFF] + body + adler32(body)
        #expect(try decompress(ByteStream(wrap(stored))) == body)
        #expect(throws: CMSError.malformed(.cms, "bytes follow the compressed content")) {
            try decompress(ByteStream(wrap(stored + [0])))
        }
        #expect(throws: CMSError.malformed(.cms, "the compressed content is damaged")) {
            try decompress(ByteStream(wrap(stored.dropLast() + [0])))
        }
        let text = Array(String(repeating: "Hello, compressed world. ", count: 100).utf8)
        #expect(try compress(text).suffix(4).elementsEqual(adler32(text)))
    }

    private func wrap(_ zlib: [UInt8]) -> [UInt8] {
        func tlv(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
            let content = parts.flatMap { $0 }
            return [tag, UInt8(content.count)] + content
        }
        let smime: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 16]
        let data: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        let algorithm = tlv(0x30, tlv(0x06, smime, [3, 8]))
        let content = tlv(0x30, data, tlv(0xA0, tlv(0x04, zlib)))
        return tlv(0x30, tlv(0x06, smime, [1, 9]), tlv(0xA0, tlv(0x30, [2, 1, 0], algorithm, content)))
    }

    @Test func `damaged compressed data is an error, never a crash`() throws {
        let message = try compress(sample(200) + [UInt8](repeating: 9, count: 2000))
        for count in 0..<message.count {
            #expect(throws: (any Error).self) { try decompress(ByteStream(Array(message.prefix(count)))) }
        }
        let original = try decompress(ByteStream(message))
        for index in message.indices {
            var changed = message
            changed[index] ^= 0x40
            if let read = try? decompress(ByteStream(changed)) { #expect(read == original) }
        }
    }

    @Test func `a decompression bomb is refused before it fills memory`() throws {
        let bomb = try compress([UInt8](repeating: 0, count: 5 << 20))
        var seen = 0
        #expect(throws: CMSError.limitExceeded("compression by more than 1:200")) {
            let sink = ClosureSink { seen += $0.count }
            try CompressedData(reading: ByteStream(bomb)).content.makeReader().copy(to: sink)
        }
        #expect(seen <= 2 << 20)
        #expect(throws: CMSError.limitExceeded("1000 bytes of decompressed content")) {
            try decompress(ByteStream(compress(sample(1001))), limit: 1000)
        }
    }

    @Test func `another compression algorithm is refused by name`() throws {
        var message = try compress([1])
        let oid = try #require(message.firstRange(of: [0x09, 0x10, 0x03, 0x08])?.upperBound)
        message[oid - 1] = 9
        #expect(throws: CMSError.unsupported("compression pwri-kek")) { try decompress(ByteStream(message)) }
    }

    private func adler32(_ bytes: [UInt8]) -> [UInt8] {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return withUnsafeBytes(of: (b << 16 | a).bigEndian) { Array($0) }
    }
}
