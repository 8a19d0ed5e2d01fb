import NIOCore
import SMIMEServer
import Testing

@Suite struct DotStuffingTests {
    static let contents = [
        "", ".", "..", ".\r\n", "..\r\n", "a", "a\r\n", "a\r\n.", "a\r\n.\r\n", "a\r\n.b\r\n..c\r\n",
        "\r\n\r\n.\r\n.\r\n\r\n", "a\r", "a\r\n\r",
        "a\rb\r\n\r\r\n.\r\n", ".\rx\r\n", ".\0\r\n", "a\r\n.\0", "\0\r\n\0", "a\r..\r\n", "\r\n.\r", "x\r.y\r\n.\r\n",
    ]

    @Test("dots at the edges of pieces of any size", arguments: contents)
    func roundTrip(content: String) throws {
        for size in 1...(content.utf8.count + 1) {
            let wire = try #require(Self.encode(content, inPiecesOf: size))
            #expect(wire.hasSuffix(".\r\n"))
            #expect(wire == Self.encode(content, inPiecesOf: .max))
            for cut in 1...wire.utf8.count {
                // A line end is added to a last line without one.
                let expected = content.isEmpty || content.hasSuffix("\r\n") ? content : content + "\r\n"
                #expect(Self.decode(wire, inPiecesOf: cut) == expected)
            }
        }
    }

    @Test(
        "lines as they go over the wire",
        arguments: [
            ("", ".\r\n"), (".", "..\r\n.\r\n"), ("a", "a\r\n.\r\n"), ("a\r\n.b\r\n", "a\r\n..b\r\n.\r\n"),
            ("a.\r\n", "a.\r\n.\r\n"), ("a\r", "a\r\r\n.\r\n"),
        ]
    )
    func wire(content: String, wire: String) {
        #expect(Self.encode(content, inPiecesOf: .max) == wire)
    }

    @Test(
        "what might end the message before its end is not encoded",
        arguments: [
            ".\r.", "\n", "a\n", "a\r\n\n", "a\r\n.\n", "a\r.\r\n", "a\r.\r", "a\r.", "a\n.\r\n", ".\n", ".\r\r.\r\n",
            "\0.\r\n", "\0.", "a\r\0.\r\n", "a\r\n\0\0.\0\r\n", "a\r\n.\r\0.\r\n",
        ]
    )
    func refusal(content: String) {
        for size in 1...content.utf8.count { #expect(Self.encode(content, inPiecesOf: size) == nil) }
    }

    private static func encode(_ content: String, inPiecesOf size: Int) -> String? {
        var stuffing = DotStuffing()
        var wire = ByteBuffer()
        for piece in content.utf8.pieces(of: size) {
            guard var encoded = stuffing.encode(piece) else {
                // After a refusal, `end` must also return nil.
                return stuffing.end().map { _ in "ended" }
            }
            wire.writeBuffer(&encoded)
        }
        guard var end = stuffing.end() else { return nil }
        wire.writeBuffer(&end)
        return String(buffer: wire)
    }

    private static func decode(_ wire: String, inPiecesOf size: Int) -> String? {
        var decoder = SMTPContentDecoder(framing: .dotStuffed)
        var content = ByteBuffer()
        var hasEnded = false
        for piece in wire.utf8.pieces(of: size) {
            var piece = piece
            while let found = decoder.next(from: &piece) {
                guard !hasEnded else { return nil }
                switch found {
                case .content(var bytes): content.writeBuffer(&bytes)
                case .end: hasEnded = true
                case .violation: return nil
                }
            }
        }
        return hasEnded ? String(buffer: content) : nil
    }
}

extension String.UTF8View {
    /// These bytes in buffers of `size`; the last one may be shorter.
    func pieces(of size: Int) -> [ByteBuffer] {
        var pieces: [ByteBuffer] = []
        var rest = self[...]
        while !rest.isEmpty {
            pieces.append(ByteBuffer(bytes: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return pieces
    }
}
