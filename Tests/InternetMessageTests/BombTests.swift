import ByteStreams
import InternetMessage
import TestSupport
import Testing

/// The time limit ends tests that would otherwise run forever.
@Suite(.timeLimit(.minutes(15))) struct BombTests {
    @Test func `a hundred thousand nested multiparts meet the limit at once`() {
        var bytes: [UInt8] = []
        for level in 0..<100_000 {
            bytes += "Content-Type: multipart/mixed; boundary=b\(level)\r\n\r\n--b\(level)\r\n".utf8
        }
        #expect(throws: MIMEError.limitExceeded(.depth)) { try MIMEReader.message(in: MemorySource(bytes)) }
    }

    @Test func `fifty nested multiparts are read`() throws {
        let text = (0..<50).map { "Content-Type: multipart/mixed; boundary=b\($0)\n\n--b\($0)\n" }.joined() + "\nx"
        var (entity, _) = try parse(text.bytes)
        var depth = 0
        while let child = entity.children.first { (entity, depth) = (child, depth + 1) }
        #expect(depth == 50)
    }

    @Test func `three hundred thousand parts meet the limit at once`() {
        let bytes =
            "Content-Type: multipart/mixed; boundary=b\n\n".bytes
            + "--b\n\nx\n".bytes.flood(300_000 * 7)
        #expect(throws: MIMEError.limitExceeded(.parts)) { try MIMEReader.message(in: MemorySource(bytes)) }
    }

    @Test(arguments: ["x", "x: y\n", "\n x", ":", " ", "--"])
    func `a header of 10 MiB meets the limit at once`(filler: String) {
        let bytes = "Subject: ".bytes + filler.bytes.flood(10 * 1024 * 1024)
        #expect(throws: MIMEError.limitExceeded(.headerBytes)) { try HeaderBlock(parsing: bytes) }
        #expect(throws: MIMEError.limitExceeded(.headerBytes)) {
            try MIMEReader.message(in: MemorySource(bytes))
        }
    }

    @Test func `many large headers meet the limit of all headers`() {
        let header = "X: ".bytes + [UInt8](repeating: 120, count: 1_000_000) + "\n\n--b\n".bytes
        let bytes =
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n".bytes
            + header.flood(20_000_000)
        #expect(throws: MIMEError.limitExceeded(.totalHeaderBytes)) { try MIMEReader.message(in: MemorySource(bytes)) }
    }

    @Test(arguments: ["\n", "\r\n", "--\n", "-", "\n-", "--b ", "\n--", "--bb\n", "\r"])
    func `floods of lines and hyphens are text`(flood: String) throws {
        let bytes =
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n".bytes
            + flood.bytes.flood(2_000_000) + "\n--b--\n".bytes
        let entity = try MIMEReader.message(in: MemorySource(bytes))
        #expect(entity.children.count == 1)
        #expect(entity.isTerminated)
    }

    @Test func `messages in messages beyond the limit are refused`() throws {
        let text = String(repeating: "Content-Type: message/rfc822\n\n", count: 100) + "é  \n"
        let (entity, source) = try parse(text.bytes)
        #expect(throws: MIMEError.limitExceeded(.depth)) { try SevenBitEncoding(of: entity, in: source) }
    }
}
