import ByteStreams
import Foundation
import Testing

@Suite struct Base64Tests {
    private func decode(_ text: String, inPiecesOf size: Int = .max) throws -> [UInt8] {
        let reader = Base64Decoder(try MemorySource(Array(text.utf8)).stream().inPieces(of: size).makeReader())
        var bytes: [UInt8] = []
        let window = Window(size: min(size, 64))
        while case let count = try window.fill(from: reader), count > 0 {
            bytes.append(contentsOf: window.prefix(count))
        }
        return bytes
    }

    @Test(arguments: [1, 2, 3, 5, 47, 1000, Int.max])
    func `base64 of every length is decoded, however small the pieces`(size: Int) throws {
        for count in 0...200 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            let sink = MemorySink()
            let encoder = Base64Encoder(sink, lineEnd: [13, 10])
            for start in stride(from: 0, to: count, by: min(size, 200)) {
                try encoder.write(Array(bytes[start..<min(count, start + min(size, 200))]))
            }
            try encoder.finish()
            #expect(sink.bytes.count == Base64Encoder.encodedCount(count, lineEnd: 2))
            let text = String(decoding: sink.bytes, as: UTF8.self)
            let wanted = Data(bytes).base64EncodedString(options: [
                .lineLength64Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
            ])
            #expect(text == (count == 0 ? "" : wanted + "\r\n"))
            #expect(try decode(text, inPiecesOf: size) == bytes)
        }
    }

    @Test(arguments: ["\n", "\r\n"], [1, 3, 7, 8, 9, 15, 16, 17, .max])
    func `base64 with lines of every length is decoded, however small the pieces`(lineEnd: String, size: Int) throws {
        let bytes = (0..<150).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 5) }
        let text = Data(bytes).base64EncodedString()
        for length in 1...80 {
            let lines = stride(from: 0, to: text.count, by: length).map { text.dropFirst($0).prefix(length) }
            #expect(try decode(lines.joined(separator: lineEnd) + lineEnd, inPiecesOf: size) == bytes)
        }
    }

    @Test func `base64 longer than one window is decoded`() throws {
        let bytes = (0..<(3 * Window.size + 1)).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let sink = MemorySink()
        let encoder = Base64Encoder(sink, lineEnd: [10])
        try encoder.write(bytes)
        try encoder.finish()
        #expect(sink.bytes.count == Base64Encoder.encodedCount(bytes.count, lineEnd: 1))
        #expect(try Array(base64: sink.bytes) == bytes)
    }

    @Test(arguments: ["aGVs\nbG8=", "aGVs\r\nbG8=\r\n\r\n", " a G V s b\tG 8 = ", "aGVsbG8", "\n\n\naGVsbG8="])
    func `line ends and blanks are ignored anywhere in base64`(text: String) throws {
        for size in [1, 2, 3, Int.max] { #expect(try decode(text, inPiecesOf: size) == Array("hello".utf8)) }
    }

    @Test(arguments: [
        "aGVs!bG8=", "aGVsbG8=aGVs", "=", "a", "a=", "aG=V", "aGVsbG8==", "aGVsb", "aGVs=", "aGVsbG8=\u{0}", "aGVs-G8=",
        "aGVsbG8=\n--b", "é",
    ])
    func `base64 with junk or with text after the padding is malformed`(text: String) {
        for size in [1, 4, Int.max] {
            #expect(throws: StreamError.malformedBase64) { try decode(text, inPiecesOf: size) }
        }
    }

    @Test(arguments: [("aGVsbG8=", false), ("aGVsbG8", true), ("aGVsbA==", false), ("aGVsbA=", true), ("aGVs", false)])
    func `missing padding in base64 is a defect`(text: String, lacks: Bool) throws {
        let decoder = Base64Decoder(MemorySource(Array(text.utf8)).reader())
        try decoder.copy(to: CountingSink())
        #expect(decoder.lacksPadding == lacks)
    }
}
