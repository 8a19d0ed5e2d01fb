import NIOCore
import SMIMEServer
import Testing

@Suite struct ServerCommandTests {
    @Test(
        "each command gets its reply, in its place and out of it",
        arguments: [
            ("NOOP\r\nnoop with words\r\n", [250, 250]),
            ("HELP\r\nVRFY somebody\r\nVRFY\r\nEXPN list\r\n", [214, 252, 501, 502]),
            ("RSET\r\n", [250]),
            ("QUIT\r\n", [221]),
            ("EHLO\r\nEHLO again.test\r\nHELO old.test\r\n", [501, 250, 250]),
            ("LHLO x\r\nAUTH PLAIN\r\nSTARTTLS\r\nFOO\r\n", [500, 502, 502, 500]),
            ("RCPT TO:<b@y.test>\r\nDATA\r\n", [503, 503]),
            ("MAIL FROM:<a@x.test>\r\nMAIL FROM:<a@x.test>\r\n", [250, 503]),
            ("MAIL FROM:<a@x.test>\r\nDATA\r\n", [250, 554]),
            ("MAIL FROM:<a@x.test>\r\nRSET\r\nRCPT TO:<b@y.test>\r\n", [250, 250, 503]),
            ("MAIL FROM:<a@x.test>\r\nEHLO again.test\r\nRCPT TO:<b@y.test>\r\n", [250, 250, 503]),
            ("\(ServerDriver.envelope)DATA now\r\n", [250, 250, 501]),
            ("mail from:<a@x.test>\r\nRcpt To: <b@y.test>\r\n", [250, 250]),
            ("MAIL a@x.test\r\nMAIL FROM:a@x.test\r\nMAIL FROM:<a@x.test\r\nMAIL\r\n", [501, 501, 501, 501]),
            ("MAIL FROM:<a@x.test>\r\nRCPT TO:<>\r\nRCPT <b@y.test>\r\n", [250, 501, 501]),
            (
                "MAIL FROM:<a>\r\nMAIL FROM:<postmaster>\r\nMAIL FROM:<>\r\nRCPT TO:<Postmaster>\r\n",
                [501, 553, 250, 250]
            ),
        ]
    )
    func commands(text: String, codes: [Int]) {
        var driver = ServerDriver()
        driver.send(text)
        #expect(driver.codes == codes)
        #expect(driver.isClosed == text.hasPrefix("QUIT"))
    }

    @Test("a greeting names the host and the protocol, without enhanced codes")
    func greeting() {
        #expect(ServerDriver(greets: false).replies == "220 gw.test ESMTP smime\r\n")
        #expect(ServerDriver(.lmtp, greets: false).replies == "220 gw.test LMTP smime\r\n")
    }

    @Test("the reply to EHLO announces what is offered")
    func announcement() {
        var driver = ServerDriver(greets: false)
        driver.send("EHLO client.test\r\n")
        let lines = driver.replies.split(separator: "\r\n").dropFirst().map(String.init)
        #expect(
            lines == [
                "250-gw.test", "250-PIPELINING", "250-SIZE 1048576", "250-8BITMIME", "250-SMTPUTF8", "250-DSN",
                "250-ENHANCEDSTATUSCODES", "250-CHUNKING", "250 XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE",
            ]
        )
    }

    @Test("an extension that is not offered is neither announced nor accepted")
    func withoutExtensions() {
        var driver = ServerDriver(greets: false) {
            $0.offersXFORWARD = false
            $0.extensions = []
        }
        driver.send("EHLO client.test\r\nXFORWARD NAME=x\r\nMAIL FROM:<a@x.test> SIZE=1\r\nMAIL FROM:<a@x.test>\r\n")
        driver.send("RCPT TO:<b@y.test> NOTIFY=NEVER\r\nRCPT TO:<b@y.test>\r\nBDAT 2 LAST\r\n")
        #expect(driver.codes == [220, 250, 502, 555, 250, 555, 250, 502])
        #expect(driver.replies.contains("250 gw.test\r\n"))
        #expect(!driver.replies.contains("2.1.0"))
    }

    @Test("a client of HELO gets neither parameters nor enhanced codes")
    func plainClient() {
        var driver = ServerDriver(greets: false)
        driver.send("MAIL FROM:<a@x.test>\r\nHELO c\r\nMAIL FROM:<a@x.test> SIZE=1\r\nMAIL FROM:<a@x.test>\r\n")
        #expect(driver.replies.hasSuffix("503 EHLO first\r\n250 gw.test\r\n555 parameters need EHLO\r\n250 Ok\r\n"))
    }

    @Test("LMTP knows LHLO, and no EHLO or HELO")
    func lmtp() {
        var driver = ServerDriver(.lmtp, greets: false)
        driver.send("EHLO c\r\nHELO c\r\nMAIL FROM:<>\r\nLHLO c\r\nMAIL FROM:<>\r\nDATA\r\n")
        #expect(driver.codes == [220, 500, 500, 503, 250, 250, 503])
    }

    @Test("the pipelined commands of a message are answered together")
    func pipelining() {
        var driver = ServerDriver()
        driver.decision = .wait
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        #expect(driver.entries.count == 2)
        #expect(driver.codes == [250, 250])
    }
}
