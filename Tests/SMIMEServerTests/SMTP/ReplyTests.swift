import NIOCore
import SMIMEServer
import Testing

@Suite struct ReplyTests {
    @Test func `421 of another server is passed on as 451`() {
        let reply = SMTPReply(421, "4.3.2", text: "shutting down")
        #expect(reply.passedOn == SMTPReply(451, "4.3.2", text: "shutting down"))
        #expect(reply.milterRefusal.code == 451)
        for code in [450, 451, 452, 550, 554] {
            let reply = SMTPReply(code, nil, text: "no")
            #expect(reply.passedOn == reply && reply.milterRefusal.code == code)
        }
    }

    @Test(
        "replies as they go over the wire",
        arguments: [
            (SMTPReply(250, "2.1.0", text: "Ok"), "250 2.1.0 Ok\r\n"),
            (SMTPReply(250, nil, text: "a\nb\r\nc"), "250-a\r\n250-b\r\n250 c\r\n"),
            (SMTPReply(550, "5.7.1", text: "one\ntwo"), "550-5.7.1 one\r\n550 5.7.1 two\r\n"),
            (SMTPReply(550, "2.7.1", text: "class"), "550 5.7.1 class\r\n"),
            (SMTPReply(354, "5.0.0", text: "go"), "354 go\r\n"),
            (SMTPReply(450, nil, text: ""), "450 \r\n"),
            (SMTPReply(450, nil, text: "end\n"), "450 end\r\n"),
            (SMTPReply(17, "5.0.0", text: "no code"), "451 4.0.0 no code\r\n"),
            (
                SMTPReply(550, nil, text: "f\u{FC}r \u{1B}[1m\u{0}\u{202E}"),
                "550 f\\x{FC}r \\x{1B}[1m\\x{0}\\x{202E}\r\n"
            ),
        ]
    )
    func wire(reply: SMTPReply, text: String) {
        #expect(String(buffer: reply.encoded()) == text)
    }

    @Test("a long text is wrapped between words, and a very long one is cut")
    func long() {
        let text = (1...400).map { "word\($0)" }.joined(separator: " ")
        let lines = String(buffer: SMTPReply(550, "5.7.1", text: text).encoded()).split(separator: "\r\n")
        #expect(lines.count > 1)
        #expect(lines.allSatisfy { $0.utf8.count <= 510 })
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix("550-5.7.1 word") })
        #expect(lines.map { $0.dropFirst(10) }.joined(separator: " ") == text)
        let escaped = "a " + String(repeating: "b", count: 499) + String(repeating: "\u{10FFFF}", count: 10)
        #expect(
            String(buffer: SMTPReply(550, nil, text: escaped).encoded()).split(separator: "\r\n").allSatisfy {
                $0.utf8.count <= 510
            }
        )
        let endless = String(buffer: SMTPReply(550, nil, text: String(repeating: "ä", count: 100_000)).encoded())
        #expect(endless.utf8.count <= 20 * 512)
        #expect(endless.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 510 && $0.hasPrefix("550") })
        let empty = String(buffer: SMTPReply(550, nil, text: String(repeating: "\n", count: 100_000)).encoded())
        #expect(empty.split(separator: "\r\n").count == 20)
    }

    @Test(
        "a short reply has one line of at most 250 bytes",
        arguments: ["a b", "short", String(repeating: "é", count: 900)]
    )
    func short(text: String) {
        for count in [1, 2, 60, 61, 62, 63, 64, 80, 400] {
            let reply = SMTPReply(550, "5.999.999", text: Array(repeating: text, count: count).joined(separator: " "))
            let wire = String(buffer: reply.shortened.encoded())
            #expect(wire.utf8.count <= 250 && wire.hasSuffix("\r\n") && wire.split(separator: "\r\n").count == 1)
            let whole = String(buffer: reply.encoded())
            #expect(whole.utf8.count > 250 ? wire.hasSuffix(" ...\r\n") : wire == whole)
        }
    }

    @Test("a short reply keeps an administrator's sentence after a long reason")
    func shortLines() {
        let help = "Ask the help desk: tel. 4711"
        for reason in ["no certificate", String(repeating: "no certificate, ", count: 40)] {
            let wire = String(buffer: SMTPReply(550, "5.7.1", text: "\(reason)\n\(help)").shortened.encoded())
            #expect(wire.hasPrefix("550 5.7.1 no certificate") && wire.hasSuffix(" \(help)\r\n"), "\(wire)")
            #expect(wire.utf8.count <= 250 && wire.split(separator: "\r\n").count == 1)
        }
    }

    @Test("a short reply keeps the beginning of a long word")
    func shortWord() {
        let link = "https://example.com/" + String(repeating: "x", count: 400)
        let wire = String(buffer: SMTPReply(550, "5.1.1", text: "bob@example.com: \(link)").shortened.encoded())
        #expect(
            wire.hasPrefix("550 5.1.1 bob@example.com: https://example.com/xxx") && wire.hasSuffix("x ...\r\n"),
            "\(wire)"
        )
        #expect((240...250).contains(wire.utf8.count))
    }

    @Test(
        "a reply that is written is read as it was",
        arguments: ["Ok", "", "a\nb", "a\n\nb c", "5.7.1 in the text", "-dash"]
    )
    func roundTrip(text: String) {
        for code in [nil, EnhancedStatusCode(4, subject: 10, detail: 999)] {
            var parser = SMTPReplyParser()
            let reply = SMTPReply(450, code, text: text)
            var buffer = reply.encoded()
            parser.receive(&buffer)
            #expect(parser.next() == .reply(reply))
            #expect(parser.next() == nil)
        }
    }

    @Test(
        "replies are read as servers write them",
        arguments: [
            ("250\r\n", SMTPReply(250, nil, text: "")),
            ("250-2.1.0 a\r\n250 2.1.0 b\r\n", SMTPReply(250, "2.1.0", text: "a\nb")),
            ("250-2.1.0 a\r\n250 b\r\n", SMTPReply(250, "2.1.0", text: "a\nb")),
            ("550 5.7.1\r\n", SMTPReply(550, "5.7.1", text: "")),
            ("550 2.7.1 no\r\n", SMTPReply(550, nil, text: "2.7.1 no")),
            ("550-\r\n550 \r\n", SMTPReply(550, nil, text: "\n")),
        ]
    )
    func reading(text: String, reply: SMTPReply) {
        for size in 1...text.utf8.count {
            var parser = SMTPReplyParser()
            var items: [SMTPReplyParser.Item] = []
            for start in stride(from: 0, to: text.utf8.count, by: size) {
                var buffer = ByteBuffer(bytes: text.utf8.dropFirst(start).prefix(size))
                parser.receive(&buffer)
                while let item = parser.next() { items.append(item) }
            }
            #expect(items == [.reply(reply)])
        }
    }

    @Test(
        "what is no reply is told, once",
        arguments: [
            "\r\n", "25\r\n", "250_x\r\n", "x50 x\r\n", "650 x\r\n", "150 x\r\n", "290 x\r\n", "250 x\n",
            "250-a\r\n251 b\r\n",
            "250 \(String(repeating: "x", count: 3000))\r\n", String(repeating: "x", count: 3000),
            String(repeating: "250-x\r\n", count: 101),
        ]
    )
    func malformed(text: String) {
        var parser = SMTPReplyParser()
        var buffer = ByteBuffer(string: text + "250 Ok\r\n")
        parser.receive(&buffer)
        #expect(parser.next() == .malformed)
        #expect(parser.next() == nil)
    }

    @Test(
        "enhanced codes",
        arguments: [
            ("5.7.1", true), ("2.0.0", true), ("4.123.999", true), ("3.0.0", false), ("5.7", false), ("5.7.1.2", false),
            ("5..1", false), ("5.7.1000", false), ("5.x.1", false), ("", false),
        ]
    )
    func enhancedCodes(text: String, isGood: Bool) {
        #expect((EnhancedStatusCode(text) != nil) == isGood)
        #expect(EnhancedStatusCode(text)?.description ?? text == text)
    }
}
