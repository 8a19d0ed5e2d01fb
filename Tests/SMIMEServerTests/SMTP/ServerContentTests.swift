import NIOCore
import SMIMEServer
import Testing

@Suite struct ServerContentTests {
    @Test("stuffed dots are taken out, and all else stays")
    func data() {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        driver.send("a\r\n..\r\n.b\r\n...c\r\nbare\rreturn \r..\r\n\r\r\nend\r\n.\r\nNOOP\r\n")
        #expect(driver.content == "a\r\n.\r\nb\r\n..c\r\nbare\rreturn \r..\r\n\r\r\nend\r\n")
        #expect(driver.codes == [250, 250, 354, 250, 250])
        #expect(!driver.isClosed)
    }

    @Test("a message may be empty")
    func empty() {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        driver.send(".\r\n")
        #expect(driver.content.isEmpty)
        #expect(driver.entries.contains(.endOfMessage))
        #expect(driver.codes == [250, 250, 354, 250])
    }

    @Test("chunks are put together, dots and all")
    func chunks() {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)BDAT 5\r\n.a\r\n.BDAT 0\r\nBDAT 4\r\n\r\n\r")
        driver.send("\nBDAT 5 LAST\r\n.\r\nxy\(ServerDriver.envelope)BDAT 0 last\r\n")
        #expect(driver.content == ".a\r\n.\r\n\r\n.\r\nxy")
        #expect(driver.codes == [250, 250, 250, 250, 250, 250, 250, 250, 250])
        #expect(driver.envelopes.count == 2)
    }

    @Test("LMTP answers for each recipient", arguments: [true, false])
    func perRecipient(byChunk: Bool) {
        var driver = ServerDriver(.lmtp)
        driver.answers = { _ in [SMTPReply(250, "2.0.0", text: "one"), SMTPReply(550, "5.1.1", text: "two")] }
        driver.send("\(ServerDriver.envelope)RCPT TO:<c@y.test>\r\nRCPT TO:<d@y.test>\r\n")
        driver.send(byChunk ? "BDAT 3 LAST\r\nx\r\n" : "DATA\r\n")
        if !byChunk { driver.send("x\r\n.\r\n") }
        // A missing answer counts as a temporary failure.
        #expect(driver.codes.suffix(3) == [250, 550, 451])
        #expect(driver.replies.contains("250 2.0.0 one\r\n550 5.1.1 two\r\n451 4.3.0 "))
    }

    @Test("a message that is not taken gets the caller's reply", arguments: [SMTPServerSession.Dialect.smtp, .lmtp])
    func refusal(dialect: SMTPServerSession.Dialect) {
        var driver = ServerDriver(dialect)
        driver.decision = .refuse(SMTPReply(451, "4.3.1", text: "busy"))
        driver.send("\(ServerDriver.envelope)RCPT TO:<c@y.test>\r\nDATA\r\n")
        driver.send("\(ServerDriver.envelope)RCPT TO:<c@y.test>\r\n")
        // A client sends a chunk's content without waiting, so the content is skipped.
        driver.send("BDAT 4 LAST\r\nQUITNOOP\r\n\(ServerDriver.envelope)BDAT 2\r\nxxBDAT 2 LAST\r\nyy")
        let replies = dialect == .lmtp ? [451, 451] : [451]
        #expect(driver.codes == [250, 250, 250, 451, 250, 250, 250] + replies + [250, 250, 250, 451, 503])
        #expect(driver.content.isEmpty)
        #expect(!driver.entries.contains(.abandoned))
    }

    @Test(
        "a message that is too large is refused where that is known",
        arguments: [SMTPServerSession.Dialect.smtp, .lmtp]
    )
    func tooLarge(dialect: SMTPServerSession.Dialect) {
        var driver = ServerDriver(dialect, maximumSize: 10)
        let envelope = "\(ServerDriver.envelope)RCPT TO:<c@y.test>\r\n"
        let replies = dialect == .lmtp ? [552, 552] : [552]
        driver.send("\(envelope)DATA\r\n")
        driver.send("0123456\r\n0123456\r\n0123456\r\n.\r\n", inPiecesOf: 5)
        #expect(driver.codes == [250, 250, 250, 354] + replies)
        #expect(driver.session.refusal?.reason == .size && driver.session.violation == nil)
        #expect(driver.entries.filter { $0 == .abandoned }.count == 1)
        #expect(!driver.entries.contains(.endOfMessage))
        driver.send("\(envelope)BDAT 11 LAST\r\n012345678\r\n\(envelope)BDAT 8\r\n01234\r\n0BDAT 3 LAST\r\n12\n")
        #expect(
            Array(driver.codes.dropFirst(4 + replies.count)) == [250, 250, 250] + replies + [250, 250, 250, 250]
                + replies
        )
        #expect(driver.entries.filter { $0 == .abandoned }.count == 2)
        driver.send("\(envelope)DATA\r\n")
        driver.send("01234567\r\n.\r\n")
        #expect(driver.codes.last == 250)
    }

    @Test(
        "a chunk whose size is wrong ends the connection or the message, and never becomes part of another",
        arguments: [
            ("BDAT\r\n", [521]), ("BDAT x\r\n", [521]), ("BDAT -1\r\n", [521]), ("BDAT 1 FIRST\r\n", [521]),
            ("BDAT 1 LAST x\r\n", [521]),
            ("BDAT 99999999999999999999\r\n", [521]), ("BDAT 9999999999999999999\r\n", [521]),
            // The size is too small: the remaining bytes are not a command.
            ("BDAT 2 LAST\r\nx\r\n.\r\n", [250, 521]),
            ("BDAT 0 LAST\r\n\r\n", [250, 521]),
        ]
    )
    func badSizes(text: String, codes: [Int]) {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)\(text)")
        #expect(driver.codes == [250, 250] + codes)
        #expect(driver.isClosed)
    }

    @Test("a chunk as large as numbers go is refused, and what comes is passed over")
    func largestChunk() {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)BDAT 9223372036854775807 LAST\r\n")
        driver.send(String(repeating: "x", count: 100_000))
        driver.endOfInput()
        #expect(driver.codes == [250, 250])
        #expect(driver.content.isEmpty)
        #expect(driver.isClosed)
    }

    @Test("a chunk longer than what comes waits, and is abandoned when the client leaves")
    func shortChunk() {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)BDAT 10 LAST\r\nabc")
        #expect(driver.entries.last == .content("abc"))
        driver.endOfInput()
        #expect(driver.entries.suffix(2) == [.abandoned, .close])
    }

    @Test(
        "commands between chunks",
        arguments: [
            ("RSET\r\n", [250], true), ("EHLO x\r\n", [250], true), ("QUIT\r\n", [221], true),
            ("NOOP\r\n", [250], false),
            ("DATA\r\n", [503], false), ("MAIL FROM:<>\r\n", [503], false), ("RCPT TO:<c@y.test>\r\n", [503], false),
        ]
    )
    func betweenChunks(command: String, codes: [Int], isAbandoned: Bool) {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)BDAT 3\r\nx\r\n\(command)")
        #expect(driver.codes == [250, 250, 250] + codes)
        #expect(driver.entries.contains(.abandoned) == isAbandoned)
    }

    @Test("chunks without an envelope are passed over")
    func withoutEnvelope() {
        var driver = ServerDriver()
        driver.send("BDAT 6 LAST\r\nQUIT\r\nMAIL FROM:<>\r\nBDAT 6\r\nQUIT\r\nNOOP\r\n")
        #expect(driver.codes == [503, 250, 503, 250])
    }
}
