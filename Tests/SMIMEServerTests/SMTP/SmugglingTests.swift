import NIOCore
import SMIMEServer
import Testing

@Suite struct SmugglingTests {
    /// Sequences that some servers might interpret as the end of a message, and a bare line feed.
    static let falseEnds = [
        "\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\rx", "\r\n.\r\r\n", "\n.\r", "\r.\n", "\r\n\n.\r\n",
        "\r\r.\r\n", "\n",
        "\r\n..\n", "\r\n.\r.\r\n",
    ]

    @Test("a message with a false end is refused, and the connection with it", arguments: falseEnds, [1, 2, 3, 1000])
    func content(end: String, size: Int) {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        driver.send(
            "Subject: a\r\n\r\ntext\(end)MAIL FROM:<root@x.test>\r\nRCPT TO:<c@y.test>\r\nDATA\r\n",
            inPiecesOf: size
        )
        #expect(driver.codes == [250, 250, 354, 521])
        #expect(driver.envelopes.count == 1)
        #expect(driver.entries.suffix(3).contains(.abandoned))
        #expect(driver.isClosed)
        driver.send("QUIT\r\n")
        #expect(driver.isClosed)
    }

    @Test("a chunk may not hold what DATA cannot carry on", arguments: falseEnds)
    func chunk(end: String) {
        // A dot between CRLF and a bare carriage return is harmless: it is doubled when the message is passed on.
        let isSafe = ["\r\n.\rx", "\r\n.\r\r\n"].contains(end)
        var driver = ServerDriver()
        let text = "text\(end)more\r\n"
        driver.send("\(ServerDriver.envelope)BDAT \(text.utf8.count) LAST\r\n\(text)")
        #expect(driver.codes == [250, 250, isSafe ? 250 : 521])
        #expect(driver.isClosed == !isSafe)
    }

    /// Lines that become a single dot in a server that removes NULs.
    static let hiddenDots = [
        "\r\n\0.\r\n", "\r\n\0\0.\0\r\n", "\r\0.\r\n", "\r\n\0.\rx", "\r\n.\0\r\n", "\r\n.\0\0\r\n",
        // After the first dot and the NULs are removed, a line with one dot is left.
        "\r\n.\0.\r\n", "\r\n.\0\0.\0\rx",
    ]

    @Test("a line of NULs and a dot is refused after the content", arguments: hiddenDots, [1, 2, 3, 1000])
    func hiddenDot(line: String, size: Int) {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        driver.send(
            "Subject: a\r\n\r\ntext\(line)MAIL FROM:<root@x.test>\r\nRCPT TO:<c@y.test>\r\nDATA\r\nx\r\n.\r\n",
            inPiecesOf: size
        )
        #expect(driver.codes == [250, 250, 354, 554])
        #expect(driver.envelopes.count == 1)
        #expect(driver.entries.contains(.abandoned))
        #expect(driver.session.refusal?.reason == .hiddenDot)
        driver.send("NOOP\r\n")
        #expect(driver.codes.last == 250)
    }

    @Test("nor may a chunk hold a line of NULs and a dot, unless the dot gets stuffed", arguments: hiddenDots)
    func hiddenDotInChunk(line: String) {
        let isSafe = line.hasPrefix("\r\n.")
        var driver = ServerDriver()
        let text = "text\(line)more\r\n"
        driver.send("\(ServerDriver.envelope)BDAT \(text.utf8.count)\r\n\(text)NOOP\r\n")
        #expect(driver.codes == [250, 250, isSafe ? 250 : 554, 250])
        #expect(driver.entries.contains(.abandoned) == !isSafe)
    }

    @Test(
        "NULs elsewhere pass",
        arguments: ["\0", "\r\n\0\r\n", "x\0.\r\n", "\r\n\0..\r\n", "\r\n\0.x\r\n", "\r\n..\0\r\n"]
    )
    func nulls(text: String) {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        driver.send("Subject: a\r\n\r\ntext\(text)more\r\n.\r\n")
        #expect(driver.codes == [250, 250, 354, 250])
    }

    @Test("a dot behind a bare carriage return may not end a chunk, for a line end will follow it")
    func endOfChunk() {
        var driver = ServerDriver()
        driver.send("\(ServerDriver.envelope)BDAT 3 LAST\r\nx\r.")
        #expect(driver.codes == [250, 250, 521])
    }

    @Test(
        "what is no SMTP ends the connection with one reply",
        arguments: [
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\n", "CONNECT x:25 HTTP/1.1\r\n",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
            "NOOP\nNOOP\r\n", "NOOP\u{0}\r\n", "NO\u{8}OP\r\n", "NOOP a\rNOOP\r\n", "\r\n", " NOOP\r\n", "Host: x\r\n",
            "X-A\r\n", "NOOP\u{7F}\r\n",
            "{\"a\":1}\r\n", String(repeating: "A", count: 17) + "\r\n",
            "NOOP \(String(repeating: "x", count: 2100))\r\n",
            String(repeating: "x", count: 100_000),
        ]
    )
    func violations(text: String) {
        var driver = ServerDriver()
        driver.send(text + "NOOP\r\n")
        #expect(driver.codes.count == 1)
        #expect([500, 521].contains(driver.codes.first))
        #expect(driver.isClosed)
    }

    @Test("bytes that are not UTF-8 are no command")
    func brokenText() {
        var driver = ServerDriver()
        driver.send(Array("NOOP ".utf8) + [0xFF, 0x0D, 0x0A])
        #expect(driver.codes == [521])
    }

    @Test("content that comes before the reply to DATA is none", arguments: [true, false])
    func early(isHeldBack: Bool) {
        var driver = ServerDriver()
        if isHeldBack { driver.decision = .wait }
        driver.send("\(ServerDriver.envelope)DATA\r\n\(isHeldBack ? "" : "x")")
        if isHeldBack {
            driver.send("Subject: x\r\n")
            #expect(driver.codes == [250, 250])
            driver.session.accept()
            driver.pump()
            #expect(driver.entries.suffix(3).contains(.abandoned))
        } else {
            #expect(driver.envelopes.isEmpty)
        }
        #expect(driver.codes == [250, 250, 521])
        #expect(driver.isClosed)
    }
}
