import SMIMEServer
import Testing

@Suite struct ServerEnvelopeTests {
    @Test(
        "mailboxes are taken as they are written, without a source route",
        arguments: [
            ("<b@y.test>", "b@y.test"), (#"<"b c"@y.test>"#, #""b c"@y.test"#),
            (#"<"b>\"@,"@y.test>"#, #""b>\"@,"@y.test"#),
            ("<@r.test,@s.test:b@y.test>", "b@y.test"), ("<b@[192.0.2.1]>", "b@[192.0.2.1]"),
            ("<b@[IPv6:2001:db8::1]>", "b@[IPv6:2001:db8::1]"), ("<b.c+d=e@y.test>", "b.c+d=e@y.test"),
            ("<postmaster>", "postmaster"), ("<b@host_1.y.test>", "b@host_1.y.test"),
        ]
    )
    func mailboxes(path: String, mailbox: String) {
        #expect(Self.recipient(path) == mailbox)
    }

    @Test(
        "what is no mailbox is refused",
        arguments: [
            "<b>", "<@y.test>", "<b@>", "<b c@y.test>", "<b@y..test>", "<b@y.test", "b@y.test", "<b@c@y.test>",
            "<<b@y.test>>",
            #"<"b@y.test>"#, #"<"b"c@y.test>"#, #"<"b\"@y.test>"#, "<@r.test:>", "<r.test:b@y.test>", "<b@[192.0.2.1>",
            "<b@[]>",
            "<b@y.test>NOTIFY=NEVER", "<b,c@y.test>", "<b@-\u{20}.test>", "<b@\(String(repeating: "y", count: 256))>",
        ]
    )
    func noMailboxes(path: String) {
        #expect(Self.recipient(path) == nil)
    }

    @Test(
        "parameters of MAIL",
        arguments: [
            ("SIZE=1048576", 250), ("SIZE=1048577", 552), ("SIZE=99999999999999999999", 552), ("SIZE=", 501),
            ("SIZE", 501),
            ("SIZE=-1", 501), ("SIZE=1 SIZE=2", 501), ("BODY=8BITMIME", 250), ("body=7bit", 250),
            ("BODY=BINARYMIME", 501),
            ("SMTPUTF8", 250), ("SMTPUTF8=1", 501), ("RET=FULL", 250), ("RET=HDRS ENVID=a+2Bb", 250), ("RET=ALL", 501),
            ("ENVID=a+2", 501), ("ENVID=\(String(repeating: "x", count: 101))", 501), ("AUTH=<>", 555), ("X=1", 555),
            ("=1", 501),
            ("NOTIFY=NEVER", 555),
        ]
    )
    func mailParameters(text: String, code: Int) {
        var driver = ServerDriver()
        driver.send("MAIL FROM:<a@x.test> \(text)\r\n")
        #expect(driver.codes == [code])
        #expect((driver.session.refusal?.reason == .size) == (code == 552))
    }

    @Test(
        "parameters of RCPT",
        arguments: [
            ("NOTIFY=NEVER", 250), ("NOTIFY=SUCCESS,FAILURE,DELAY", 250), ("notify=success", 250),
            ("NOTIFY=NEVER,SUCCESS", 501),
            ("NOTIFY=", 501), ("NOTIFY=DELAY,", 501), ("ORCPT=rfc822;b+40y.test", 250),
            ("ORCPT=rfc822;b@y.test NOTIFY=DELAY", 250),
            ("ORCPT=utf-8;b\\x{F6}@y.test", 250), ("ORCPT=b@y.test", 501), ("ORCPT=rfc822;+zz", 501),
            ("ORCPT=rfc822;", 501),
            ("ORCPT=rfc822;\(String(repeating: "x", count: 500))", 501), ("SIZE=1", 555),
        ]
    )
    func recipientParameters(text: String, code: Int) {
        var driver = ServerDriver()
        driver.send("MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test> \(text)\r\n")
        #expect(driver.codes == [250, code])
    }

    @Test("an envelope keeps all addresses and parameters as the client wrote them")
    func envelope() throws {
        var driver = ServerDriver(.lmtp)
        driver.send(
            "XFORWARD NAME=mail.test ADDR=192.0.2.7 PORT=4711\r\nXFORWARD IDENT=4XYZ+2B1 source=LOCAL HELO=[UNAVAILABLE]\r\n"
        )
        driver.send("MAIL FROM:<a@x.test> ret=HDRS ENVID=q+2B SIZE=12 BODY=8BITMIME\r\n")
        driver.send(
            "RCPT TO:<b@y.test> NOTIFY=DELAY ORCPT=rfc822;B@y.test\r\nRCPT TO:<bad\r\nRCPT TO:<c@y.test>\r\nDATA\r\n"
        )
        driver.send("x\r\n.\r\n")
        let envelope = try #require(driver.envelopes.first)
        #expect(envelope.sender == "a@x.test")
        #expect(envelope.parameters.map(\.text) == ["ret=HDRS", "ENVID=q+2B", "SIZE=12", "BODY=8BITMIME"])
        #expect(envelope.recipients.map(\.address) == ["b@y.test", "c@y.test"])
        #expect(envelope.recipients[0].parameters.map(\.text) == ["NOTIFY=DELAY", "ORCPT=rfc822;B@y.test"])
        #expect(envelope.clientName == "client.test")
        #expect(
            envelope.xforward == [
                .name: "mail.test", .address: "192.0.2.7", .port: "4711", .identifier: "4XYZ+1", .source: "LOCAL",
                .helo: "[UNAVAILABLE]",
            ]
        )
        // XFORWARD applies to one message only.
        driver.send("\(ServerDriver.envelope)DATA\r\n")
        #expect(driver.envelopes.last?.xforward == [:])
        #expect(driver.codes == [250, 250, 250, 250, 501, 250, 354, 250, 250, 250, 250, 354])
    }

    @Test(
        "XFORWARD that is none is refused",
        arguments: [
            "", "NAME", "COLOUR=red", "NAME=", "NAME=a+0Ab", "NAME=a+zz", "NAME=+FF",
            "NAME=\(String(repeating: "x", count: 256))",
        ]
    )
    func badXFORWARD(text: String) {
        var driver = ServerDriver()
        driver.send("XFORWARD \(text)\r\nMAIL FROM:<a@x.test>\r\nXFORWARD NAME=x\r\n")
        #expect(driver.codes == [501, 250, 503])
    }

    @Test("UTF-8 in addresses wants SMTPUTF8")
    func internationalized() {
        var driver = ServerDriver()
        driver.send("MAIL FROM:<ä@x.test>\r\nMAIL FROM:<a@x.test>\r\nRCPT TO:<ö@y.test>\r\nRSET\r\n")
        driver.send("MAIL FROM:<ä@x.test> SMTPUTF8\r\nRCPT TO:<ö@ü.test> ORCPT=utf-8;ö@ü.test\r\nDATA\r\n")
        #expect(driver.codes == [553, 250, 553, 250, 250, 250, 354])
        #expect(driver.envelopes.first?.sender == "ä@x.test")
        #expect(driver.envelopes.first?.recipients.first?.address == "ö@ü.test")
    }

    private static func recipient(_ path: String) -> String? {
        var driver = ServerDriver()
        driver.send("MAIL FROM:<>\r\nRCPT TO:\(path)\r\nRCPT TO:<last@y.test>\r\nDATA\r\n")
        guard let recipients = driver.envelopes.first?.recipients, recipients.last?.address == "last@y.test" else {
            return "no envelope"
        }
        return recipients.count == 2 ? recipients[0].address : nil
    }
}
