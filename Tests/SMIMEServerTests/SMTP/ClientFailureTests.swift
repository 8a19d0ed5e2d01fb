import NIOCore
import SMIMEServer
import Testing

@Suite struct ClientFailureTests {
    @Test(
        "a hop that does not take us in",
        arguments: [
            "421 full\r\n", "554 no\r\n", "hello\r\n", "250 Ok\r\n", "220 a\r\n421 b\r\n",
            "220 a\r\n550 b\r\n550 c\r\n", "220 a\r\n250 b\r\n250 c\r\n",
        ]
    )
    func noService(text: String) {
        var driver = ClientDriver()
        driver.receive(text)
        guard case .unusable(let failure) = driver.events.last else {
            Issue.record("still usable")
            return
        }
        #expect(failure.outcome == .noMessage)
        driver.receive("220 x\r\n")
        driver.begin(.plain)
        driver.session.fail("again")
        driver.pump()
        #expect(driver.events.filter { if case .unusable = $0 { true } else { false } }.count == 1)
    }

    @Test func `refused recipients stay refused if the hop then ends the connection`() {
        var driver = ClientDriver(extensions: ClientDriver.nothing)
        driver.begin(SMTPEnvelope(sender: "", recipients: [.init("b@y.test"), .init("c@y.test")]))
        for reply in ["250 a\r\n", "550 5.1.1 b\r\n", "421 4.7.0 too many errors\r\n"] { driver.receive(reply) }
        let refusal = SMTPRefusal(.recipient(0), SMTPReply(550, "5.1.1", text: "b"))
        #expect(driver.events.contains(.refused([refusal])))
        guard case .unusable(let failure) = driver.events.last else {
            Issue.record("still usable")
            return
        }
        #expect(failure.outcome == .noMessage)
    }

    /// The progress of a message when the connection fails.
    enum Stage: CaseIterable, Sendable {
        case ready, envelope, data, content, outcome, reset
    }

    @Test("what became of the message when the connection fails", arguments: Stage.allCases)
    func failures(stage: Stage) {
        var driver = ClientDriver(extensions: ClientDriver.nothing)
        driver.begin(SMTPEnvelope(sender: "", recipients: [.init("b@y.test")]))
        let replies: [String]
        switch stage {
        case .ready: replies = ["250 a\r\n", "550 b\r\n", "250 c\r\n"]
        case .envelope: replies = ["250 a\r\n"]
        case .data: replies = ["250 a\r\n", "250 b\r\n"]
        case .content, .outcome: replies = ["250 a\r\n", "250 b\r\n", "354 c\r\n"]
        case .reset: replies = ["250 a\r\n", "550 b\r\n"]
        }
        for reply in replies { driver.receive(reply) }
        if stage == .content || stage == .outcome { driver.send("x\r\n") }
        if stage == .outcome { driver.endOfContent() }
        driver.session.endOfInput()
        driver.pump()
        let outcome: SMTPConnectionFailure.Outcome =
            switch stage {
            case .ready, .reset: .noMessage
            case .envelope, .data, .content: .notTaken
            case .outcome: .unknown
            }
        #expect(driver.events.last == .unusable(.init(outcome, "the next hop closed the connection")))
        #expect(driver.session.send(ByteBuffer(string: "y")).readableBytes == 0)
        #expect(driver.session.endOfContent().readableBytes == 0)
    }

    @Test("nothing more is sent to a hop that refuses in the midst of the content", arguments: [true, false])
    func earlyReply(byChunk: Bool) {
        var driver = Self.sending(byChunk: byChunk, size: 100)
        driver.send("x\r\n")
        driver.receive("452 4.3.1 full\r\n")
        #expect(
            driver.events.dropLast().last == .refused([SMTPRefusal(.content, SMTPReply(452, "4.3.1", text: "full"))])
        )
        #expect(driver.events.last == .unusable(.init(.noMessage, "452 4.3.1 full")))
        driver.written(after: "y\r\n", isEmpty: true)
    }

    @Test("a reply of success before the content is sent is none")
    func earlySuccess() {
        var driver = Self.sending(byChunk: false, size: 100)
        driver.receive("250 Ok\r\n")
        #expect(driver.events.last == .unusable(.init(.notTaken, "unexpected: 250 Ok")))
    }

    @Test("a hop that closes with 421 has not taken the message")
    func closing() {
        var driver = Self.sending(byChunk: false, size: 3)
        driver.send("x\r\n")
        driver.endOfContent()
        driver.receive("421 4.3.2 bye\r\n")
        #expect(
            driver.events.suffix(2) == [
                .refused([SMTPRefusal(.content, SMTPReply(421, "4.3.2", text: "bye"))]),
                .unusable(.init(.noMessage, "421 4.3.2 bye")),
            ]
        )
    }

    @Test(
        "content that could end the message early is not sent to its end",
        arguments: [true, false],
        ["a\n.\n", "a\r.\r\n", "a\nbcd"]
    )
    func smuggling(byChunk: Bool, content: String) {
        var driver = Self.sending(byChunk: byChunk, size: content.utf8.count)
        driver.send(content)
        driver.endOfContent()
        #expect(
            driver.events.suffix(2).first
                == .refused([
                    SMTPRefusal(.content, SMTPReply(554, "5.6.0", text: "a line end that is not CRLF in the message"))
                ])
        )
        #expect(!driver.session.isReady)
        #expect(driver.takeLines().isEmpty)
    }

    @Test("a chunk has the size that was told, or the connection ends", arguments: ["12345\r\n", "1\r\n"])
    func wrongSize(content: String) {
        var driver = Self.sending(byChunk: true, size: 5)
        driver.send(content)
        driver.endOfContent()
        guard case .unusable(let failure) = driver.events.last else {
            Issue.record("still usable")
            return
        }
        #expect(failure.outcome == .notTaken)
    }

    @Test("a reply to a chunk may come as soon as its last byte was sent")
    func promptReply() {
        var driver = Self.sending(byChunk: true, size: 3)
        driver.send("x\r\n")
        driver.receive("250 Ok\r\n")
        driver.endOfContent()
        #expect(driver.events.suffix(2) == [.accepted(SMTPReply(250, nil, text: "Ok")), .ready])
    }

    @Test("a kept connection ends with QUIT, or with what the hop says")
    func ending() {
        var driver = ClientDriver(extensions: ClientDriver.everything)
        driver.session.quit()
        driver.pump()
        #expect(driver.takeLines() == ["QUIT"])
        driver.receive("221 bye\r\n")
        #expect(driver.events == [.unusable(.init(.noMessage, "closed"))])
        driver = ClientDriver(extensions: ClientDriver.everything)
        driver.receive("421 4.4.2 idle\r\n")
        #expect(driver.events == [.unusable(.init(.noMessage, "421 4.4.2 idle"))])
    }

    @Test("of very many refusals the most important ones are reported")
    func manyRefusals() {
        var driver = ClientDriver(extensions: ClientDriver.everything)
        driver.begin(SMTPEnvelope(sender: "", recipients: (1...300).map { .init("r\($0)@y.test") }))
        driver.receive("250 Ok\r\n" + String(repeating: "450 no\r\n", count: 298) + "550 a\r\n550 b\r\n")
        guard case .refused(let refusals) = driver.events.last else {
            Issue.record("not refused")
            return
        }
        #expect(refusals.count == SMTPClientSession.maximumRefusals)
        #expect(refusals.prefix(3).map(\.subject) == [.recipient(298), .recipient(299), .recipient(0)])
    }

    /// A session that has been asked for the content.
    private static func sending(byChunk: Bool, size: Int) -> ClientDriver {
        var driver = ClientDriver(extensions: byChunk ? "250-hop.test\r\n250 CHUNKING\r\n" : ClientDriver.nothing)
        driver.begin(SMTPEnvelope(sender: "", recipients: [.init("b@y.test")]), size: size)
        driver.receive("250 Ok\r\n")
        driver.receive("250 Ok\r\n")
        if !byChunk { driver.receive("354 go\r\n") }
        #expect(driver.events.last == .sendContent)
        _ = driver.takeLines()
        return driver
    }
}

extension ClientDriver {
    fileprivate mutating func written(after content: String, isEmpty: Bool) {
        _ = takeLines()
        send(content)
        #expect(written.isEmpty == isEmpty)
    }
}
