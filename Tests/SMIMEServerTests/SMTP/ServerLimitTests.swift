import NIOCore
import SMIMEServer
import Testing

@Suite struct ServerLimitTests {
    @Test(
        "a connection that brings no mail is ended",
        arguments: [
            ("RSET\r\n", 250, 100), ("NOOP\r\n", 250, 100), ("EHLO x\r\n", 250, 99), ("VRFY x\r\n", 252, 100),
            ("XFORWARD NAME=x\r\n", 250, 100),
            ("MAIL FROM:<>\r\nRSET\r\n", 250, 100), ("MAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nRSET\r\n", 250, 150),
            ("FOO\r\n", 500, 5),
            ("DATA\r\n", 503, 20), ("MAIL FROM\r\n", 501, 20), ("VRFY\r\n", 501, 20), ("BDAT 0\r\n", 503, 20),
            ("BDAT 1\r\nx", 503, 20),
            ("EHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nBDAT 0\r\n", 250, 132),
        ]
    )
    func storms(command: String, code: Int, count: Int) {
        var driver = ServerDriver()
        driver.send(String(repeating: command, count: 200))
        #expect(driver.codes.dropLast().allSatisfy { $0 == code })
        #expect(driver.codes.last == 421)
        #expect(count - 1...count + 1 ~= driver.codes.count - 1)
        #expect(driver.isClosed)
    }

    @Test("a connection that does bring mail may go on", arguments: [true, false])
    func longConnection(byChunk: Bool) {
        var driver = ServerDriver()
        for _ in 0..<300 {
            driver.send(
                "RSET\r\nXFORWARD NAME=x\r\nNOOP\r\n\(ServerDriver.envelope)\(byChunk ? "BDAT 2 LAST\r\n\r\n" : "DATA\r\n")"
            )
            if !byChunk { driver.send(".\r\n") }
        }
        #expect(!driver.isClosed)
        #expect(driver.envelopes.count == 300)
    }

    @Test(
        "10,000 recipients are taken, and those beyond are put off",
        arguments: [SMTPServerSession.Dialect.smtp, .lmtp]
    )
    func manyRecipients(dialect: SMTPServerSession.Dialect) {
        var driver = ServerDriver(dialect)
        let commands = (1...10_005).map { "RCPT TO:<r\($0)@y.test> NOTIFY=FAILURE\r\n" }.joined()
        driver.send("MAIL FROM:<a@x.test>\r\n\(commands)DATA\r\n")
        #expect(driver.codes == [250] + Array(repeating: 250, count: 10_000) + Array(repeating: 452, count: 5) + [354])
        #expect(driver.envelopes.first?.recipients.map(\.address) == (1...10_000).map { "r\($0)@y.test" })
        driver.send("x\r\n.\r\n")
        #expect(driver.codes.count == 10_007 + (dialect == .lmtp ? 10_000 : 1))
        #expect(!driver.isClosed)
    }

    @Test("an envelope is not larger than is allowed, and RCPT has an end")
    func largeEnvelope() {
        var driver = ServerDriver { settings in
            settings.maximumEnvelopeSize = 1000
            settings.maximumRecipients = 50
        }
        driver.send(
            "MAIL FROM:<a@x.test>\r\n"
                + String(repeating: "RCPT TO:<b@\(String(repeating: "y", count: 85))>\r\n", count: 600)
        )
        #expect(driver.codes.filter { $0 == 250 }.count == 11)
        #expect(driver.codes.filter { $0 == 452 }.count == 490)
        #expect(driver.codes.last == 421)
        #expect(driver.isClosed)
    }

    @Test("no more is held than is allowed while the caller decides")
    func backPressure() {
        var driver = ServerDriver { $0.maximumInput = 1000 }
        driver.answers = nil
        driver.send("\(ServerDriver.envelope)BDAT 3 LAST\r\nx\r\n")
        var buffer = ByteBuffer(repeating: UInt8(ascii: "N"), count: 5000)
        driver.session.receive(&buffer)
        #expect(buffer.readableBytes == 4000)
        #expect(!driver.session.wantsInput)
        driver.session.receive(&buffer)
        #expect(buffer.readableBytes == 4000)
        #expect(driver.session.next() == nil)
        #expect(driver.session.timeout == nil)
    }

    @Test("a shutdown waits for the message in flight alone", arguments: [false, true])
    func draining(isInFlight: Bool) {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)\(isInFlight ? "DATA\r\n" : "")")
        driver.session.closeAfterMessage(with: SMTPReply(421, "4.3.2", text: "shutting down"))
        driver.pump()
        #expect(driver.isClosed == !isInFlight)
        if isInFlight {
            driver.send("x\r\n.\r\n\(ServerDriver.envelope)")
            #expect(driver.codes == [250, 250, 354, 250, 421])
            #expect(driver.isClosed)
        }
    }

    @Test(
        "a message that is not taken, and a chunk of it, end a connection that is drained",
        arguments: ["DATA\r\n", "BDAT 2 LAST\r\nxx"]
    )
    func drainingRefusal(command: String) {
        var driver = ServerDriver()
        driver.decision = .wait
        driver.send("\(ServerDriver.envelope)\(command)")
        driver.session.closeAfterMessage(with: SMTPReply(421, "4.3.2", text: "shutting down"))
        driver.session.refuse(SMTPReply(451, "4.3.1", text: "busy"))
        driver.pump()
        #expect(driver.codes == [250, 250, 451, 421])
        #expect(driver.isClosed)
    }

    @Test("a timeout in the midst of a message abandons it")
    func timeout() {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        driver.send("half a line")
        driver.session.close(SMTPReply(421, "4.4.2", text: "too slow"))
        driver.pump()
        #expect(driver.codes.last == 421)
        #expect(driver.entries.suffix(3).contains(.abandoned))
        #expect(driver.isClosed)
        #expect(driver.session.next() == nil)
    }

    @Test("a connection may be refused in place of the greeting")
    func refusedConnection() {
        var session = SMTPServerSession(.init(dialect: .smtp, hostName: "gw.test", maximumSize: 1))
        session.close(SMTPReply(421, "4.3.2", text: "too many"))
        guard case .reply(let reply) = session.next() else {
            Issue.record("no reply")
            return
        }
        #expect(String(buffer: reply) == "421 too many\r\n")
        #expect(session.next() == .close)
        #expect(session.next() == nil)
    }

    @Test("a client that leaves: a message that is complete is still answered, another one is abandoned")
    func leaving() {
        var driver = ServerDriver()
        driver.answers = nil
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        driver.send("x\r\n.\r\n")
        driver.endOfInput()
        #expect(driver.entries.last == .endOfMessage)
        driver.session.finishMessage(with: [SMTPReply(250, "2.0.0", text: "taken")])
        driver.pump()
        #expect(driver.codes.last == 250)
        #expect(driver.isClosed)
        #expect(!driver.entries.contains(.abandoned))

        driver = ServerDriver()
        driver.decision = .wait
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        driver.endOfInput()
        #expect(driver.entries.suffix(2) == [.abandoned, .close])
        driver.session.accept()
        #expect(driver.session.next() == nil)
    }

    @Test("calls that do not fit the state have no effect")
    func misplacedCalls() {
        var driver = ServerDriver()
        driver.session.accept()
        driver.session.refuse(SMTPReply(451, nil, text: "x"))
        driver.session.finishMessage(with: [SMTPReply(250, nil, text: "x")])
        driver.pump()
        #expect(driver.entries.isEmpty)
        driver.send("NOOP\r\n")
        #expect(driver.codes == [250])
    }
}
