import NIOCore
import SMIMEServer
import TestSupport
import Testing

@Suite struct ClientTests {
    @Test("a message goes out whole, with all that the hop takes", arguments: [1, 3, .max])
    func everything(size: Int) throws {
        let replies =
            "220 x\r\n\(ClientDriver.everything)\(String(repeating: "250 2.0.0 Ok\r\n", count: 5))550 5.1.1 no\r\n"
        try Seeds.keep([1, 9] + replies.utf8, as: "replies", for: "smtp")
        var driver = ClientDriver(extensions: ClientDriver.everything)
        driver.begin(.full, size: 5, isEightBit: true)
        #expect(
            driver.takeLines() == [
                "XFORWARD NAME=mail+20host HELO=[UNAVAILABLE] IDENT=4XYZ",
                "MAIL FROM:<a@x.test> RET=HDRS ENVID=q BODY=8BITMIME SIZE=5",
                "RCPT TO:<b@y.test> NOTIFY=DELAY ORCPT=rfc822;b@y.test", "RCPT TO:<\"c d\"@y.test>",
            ]
        )
        driver.receive(
            "250 2.0.0 Ok\r\n250 2.1.0 Ok\r\n250 2.1.5 Ok\r\n250-2.1.5 Ok\r\n250 2.1.5 really\r\n",
            inPiecesOf: size
        )
        #expect(driver.takeEvents() == [.sendContent])
        driver.send(".\r\n")
        driver.send("x\r")
        #expect(driver.written == "BDAT 5 LAST\r\n.\r\nx\r")
        driver.endOfContent()
        driver.receive("250 2.0.0 queued as 7\r\n", inPiecesOf: size)
        #expect(driver.takeEvents() == [.accepted(SMTPReply(250, "2.0.0", text: "queued as 7")), .ready])
        #expect(driver.session.isReady)
        #expect(driver.session.timeout == nil)
    }

    @Test("an attribute of XFORWARD that is too long for a command is left out, and the others get several commands")
    func longAttributes() {
        var driver = ClientDriver(extensions: ClientDriver.everything)
        var envelope = SMTPEnvelope.plain
        let long = String(repeating: "x", count: 250)
        // Each blank is encoded as three bytes.
        envelope.xforward = [
            .name: long, .address: String(repeating: " ", count: 200), .helo: long, .identifier: "4XYZ",
        ]
        driver.begin(envelope)
        let lines = driver.takeLines().prefix { $0.hasPrefix("XFORWARD") }
        #expect(Array(lines) == ["XFORWARD NAME=\(long)", "XFORWARD HELO=\(long) IDENT=4XYZ"])
    }

    @Test("a hop without extensions gets one command at a time, and nothing it does not know")
    func nothing() {
        var driver = ClientDriver()
        driver.receive("220 hop.test\r\n")
        driver.receive("502 what?\r\n")
        driver.receive("250 hop.test\r\n")
        #expect(driver.takeLines() == ["EHLO gw.test", "HELO gw.test"])
        #expect(driver.takeEvents() == [.ready])
        driver.begin(.full)
        for line in ["MAIL FROM:<a@x.test>", "RCPT TO:<b@y.test>", "RCPT TO:<\"c d\"@y.test>", "DATA"] {
            #expect(driver.takeLines() == [line])
            driver.receive(line == "DATA" ? "354 go\r\n" : "250 Ok\r\n")
        }
        #expect(driver.takeEvents() == [.sendContent])
        for piece in [".", "\r\n.", "x\r\n", "y"] { driver.send(piece) }
        driver.endOfContent()
        #expect(driver.written == "..\r\n..x\r\ny\r\n.\r\n")
        driver.receive("250 Ok\r\n")
        #expect(driver.takeEvents() == [.accepted(SMTPReply(250, nil, text: "Ok")), .ready])
    }

    @Test("one recipient that is refused resets the message for all, and the connection is kept")
    func refusedRecipients() {
        var driver = ClientDriver(extensions: ClientDriver.everything)
        driver.begin(.plain)
        #expect(driver.takeLines().count == 3)
        driver.receive("250 Ok\r\n450 4.2.0 later\r\n550 5.1.1 no\r\n")
        #expect(driver.takeLines() == ["RSET"])
        #expect(
            driver.takeEvents() == [
                .refused([
                    SMTPRefusal(.recipient(1), SMTPReply(550, "5.1.1", text: "no")),
                    SMTPRefusal(.recipient(0), SMTPReply(450, "4.2.0", text: "later")),
                ])
            ]
        )
        #expect(!driver.session.isReady)
        driver.receive("250 Ok\r\n")
        #expect(driver.takeEvents() == [.ready])
    }

    @Test("if the sender is refused, the replies about the recipients do not count", arguments: [true, false])
    func refusedSender(isPipelined: Bool) {
        var driver = ClientDriver(extensions: isPipelined ? ClientDriver.everything : ClientDriver.nothing)
        driver.begin(.plain)
        driver.receive("452 4.3.1 full\r\n" + (isPipelined ? "503 5.5.1 MAIL first\r\n503 5.5.1 MAIL first\r\n" : ""))
        #expect(driver.takeEvents() == [.refused([SMTPRefusal(.sender, SMTPReply(452, "4.3.1", text: "full"))])])
        #expect(driver.takeLines().last == "RSET")
    }

    @Test("content that is refused before and after it is sent", arguments: [true, false])
    func refusedContent(isBefore: Bool) {
        var driver = ClientDriver(extensions: ClientDriver.nothing)
        driver.begin(SMTPEnvelope(sender: "", recipients: [.init("b@y.test")]))
        driver.receive("250 Ok\r\n")
        driver.receive("250 Ok\r\n")
        if !isBefore {
            driver.receive("354 go\r\n")
            driver.send("x\r\n")
            driver.endOfContent()
            _ = driver.takeEvents()
        }
        driver.receive("554 5.7.1 spam\r\n")
        let refused = SMTPClientSession.Event.refused([SMTPRefusal(.content, SMTPReply(554, "5.7.1", text: "spam"))])
        #expect(driver.takeEvents() == (isBefore ? [refused] : [refused, .ready]))
        #expect((driver.takeLines().last == "RSET") == isBefore)
    }

    @Test("a probe asks for the envelope alone")
    func probe() {
        var driver = ClientDriver(extensions: ClientDriver.everything)
        driver.begin(.plain, isProbe: true)
        driver.receive("250 Ok\r\n250 Ok\r\n250 Ok\r\n")
        #expect(driver.takeLines().last == "RSET")
        driver.receive("250 Ok\r\n")
        #expect(driver.takeEvents() == [.probed, .ready])
        driver.begin(.plain, isProbe: true)
        driver.receive("250 Ok\r\n250 Ok\r\n550 no\r\n250 Ok\r\n")
        #expect(
            driver.takeEvents() == [.refused([SMTPRefusal(.recipient(1), SMTPReply(550, nil, text: "no"))]), .ready]
        )
    }

    @Test("what the hop cannot take is not downgraded")
    func missingExtensions() {
        var driver = ClientDriver(extensions: "250-hop.test\r\n250 SIZE 100\r\n")
        var envelope = SMTPEnvelope.plain
        driver.begin(envelope, size: 101)
        driver.begin(envelope, isEightBit: true)
        envelope.recipients[1].address = "ö@y.test"
        driver.begin(envelope)
        driver.begin(
            SMTPEnvelope(
                sender: "a@x.test",
                parameters: [SMTPParameter("SMTPUTF8")].compactMap(\.self),
                recipients: envelope.recipients
            )
        )
        #expect(Self.codes(driver.takeEvents()) == ["5.3.4", "5.6.3", "5.6.7", "5.6.7"])
        #expect(driver.written.isEmpty)
        #expect(driver.session.isReady)
    }

    @Test("addresses with UTF-8 are declared")
    func internationalized() {
        var driver = ClientDriver(extensions: ClientDriver.everything)
        driver.begin(SMTPEnvelope(sender: "ä@x.test", recipients: [.init("b@y.test")]))
        #expect(driver.takeLines().first == "MAIL FROM:<ä@x.test> SMTPUTF8 SIZE=3")
    }

    @Test(
        "no address becomes a command",
        arguments: ["b@y.test>\r\nRSET\r\n", "b@y.test\n", "b@y.test> NOTIFY=NEVER", "", "b\u{0}@y.test", "<b@y.test>"]
    )
    func injection(address: String) {
        var driver = ClientDriver(extensions: ClientDriver.everything)
        driver.begin(SMTPEnvelope(sender: "", recipients: [.init("a@y.test"), .init(address)]))
        #expect(
            driver.takeEvents() == [
                .refused([
                    SMTPRefusal(
                        .recipient(1),
                        SMTPReply(553, "5.1.3", text: "the recipient's address cannot be written in SMTP")
                    )
                ]), .ready,
            ]
        )
        #expect(driver.written.isEmpty)
    }

    @Test("10,000 recipients do not all wait at once")
    func manyRecipients() {
        var driver = ClientDriver(extensions: ClientDriver.everything)
        driver.begin(SMTPEnvelope(sender: "", recipients: (1...10_000).map { .init("r\($0)@y.test") }))
        var (commands, most) = (0, 0)
        while case let lines = driver.takeLines(), !lines.isEmpty, lines.last != "BDAT 3 LAST" {
            most = max(most, lines.count)
            commands += lines.count
            driver.receive(String(repeating: "250 Ok\r\n", count: lines.count))
        }
        #expect(commands == 10_001)
        #expect(most == 100)
        #expect(driver.takeEvents() == [.sendContent])
    }

    private static func codes(_ events: [SMTPClientSession.Event]) -> [String] {
        events.compactMap {
            if case .refused(let refusals) = $0 { refusals.first?.reply.enhancedCode?.description } else { nil }
        }
    }
}
