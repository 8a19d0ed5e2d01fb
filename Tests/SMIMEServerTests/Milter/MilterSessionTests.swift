import NIOCore
import SMIMEServer
import TestSupport
import Testing

@Suite struct MilterSessionTests {
    private static let text = "From: alice@example.org\r\nSubject: test\r\n folded\r\n\r\none\r\ntwo\r\n"

    private func opened(_ options: MilterOptions = MilterClientSide.postfix) -> MilterSession {
        var session = MilterSession()
        _ = session.receive(MilterClientSide.opening(options))
        return session
    }

    private func waiting() -> MilterSession {
        var session = opened()
        _ = session.receive(MilterClientSide.message())
        return session
    }

    @Test func `the session accepts the options that it needs`() throws {
        var session = MilterSession()
        let replies = try session.receive([.negotiate(MilterClientSide.postfix)]).replies()
        guard case .negotiated(let options) = try #require(replies.first) else {
            return #expect(Bool(false), "\(replies)")
        }
        #expect(options.version == 6)
        #expect(
            options.actions == [
                .addHeaders, .changeHeaders, .changeBody, .deleteRecipients, .changeSender, .chooseMacros,
            ]
        )
        #expect(options.steps == MilterSteps.noReplies.union([.noHelo, .noUnknown, .noData, .leadingSpace]))
        #expect(options.macros[.endOfMessage] == "i")
    }

    @Test(arguments: [2, 3, 4, 5, 6, 7] as [UInt32])
    func `versions 2 to 6 are accepted, and newer servers get version 6`(version: UInt32) throws {
        var session = MilterSession()
        var offer = MilterClientSide.oldest
        offer.version = version
        let events = session.receive([.negotiate(offer)])
        guard case .negotiated(let options) = try #require(events.replies().first) else { return #expect(Bool(false)) }
        #expect(options.version == min(version, 6))
        #expect(options.macros.isEmpty)
        #expect(options.steps.isSubset(of: offer.steps) && options.actions.isSubset(of: offer.actions))
    }

    @Test func `version 1 is refused`() {
        var session = MilterSession()
        let events = session.receive([.negotiate(MilterOptions(version: 1, actions: [], steps: []))])
        #expect(events == [.close(.unsupportedVersion(1))])
        #expect(session.receive([.quit]).isEmpty)
    }

    @Test func `a message comes with its envelope, byte for byte, without a reply`() throws {
        var session = opened()
        let events = session.receive(MilterClientSide.message()).joined
        #expect(events.count == 3)
        guard case .begin(let first) = events[0], case .endOfMessage(let last) = events[2] else {
            return #expect(Bool(false), "\(events)")
        }
        #expect(first.sender == MilterAddress("<alice@example.org>", parameters: ["SIZE=100", "BODY=8BITMIME"]))
        #expect(first.recipients.map(\.address) == ["bob@example.net", "carol@example.net"])
        #expect(first.client?.address == "192.0.2.1")
        #expect(first.serverName == "mx.example.org")
        #expect(last.queueID == "4ZQ1")
        #expect(events.content == Self.text)
    }

    @Test func `a version 2 server gets a reply to everything, and one space behind the colon`() throws {
        var session = opened(MilterClientSide.oldest)
        let commands = MilterClientSide.message(header: [("From", "alice@example.org"), ("Subject", "test\n folded")])
        let events = session.receive(commands)
        let answered = commands.filter { command in
            switch command {
            case .macros, .endOfMessage: false
            default: true
            }
        }
        #expect(try events.replies() == answered.map { _ in MilterReply.continue })
        #expect(events.content == Self.text)
    }

    @Test func `a folded line without a blank from another milter begins no field`() {
        var session = opened()
        let header = [("X-A", " 1\nBcc: x@example.org\n\nbody"), ("X-B", " 2\r\n\tend"), ("X-C", " 3\n")]
        let content = session.receive(MilterClientSide.message(header: header, body: [])).content
        #expect(content == "X-A: 1\r\n Bcc: x@example.org\r\n \r\n body\r\nX-B: 2\r\n\tend\r\nX-C: 3\r\n \r\n\r\n")
    }

    @Test(arguments: [MilterClientSide.postfix, MilterClientSide.oldest])
    func `packets cut anywhere give the same events`(options: MilterOptions) throws {
        let commands =
            MilterClientSide.opening(options) + MilterClientSide.message() + [.abort]
            + MilterClientSide.message(id: "2")
        let bytes = MilterClientSide.bytes(of: commands)
        var session = MilterSession()
        let whole = session.receive(bytes)
        #expect(whole.count > 5)
        for cut in 1..<bytes.readableBytes {
            var session = MilterSession()
            var rest = bytes
            let start = rest.readSlice(length: cut) ?? ByteBuffer()
            #expect(session.receive(start) + session.receive(rest) == whole)
        }
        var slow = MilterSession()
        let single = bytes.readableBytesView.flatMap { slow.receive(ByteBuffer(bytes: [$0])) }
        #expect(single == whole)
    }

    @Test func `several messages and an abort on one connection`() throws {
        var session = opened()
        for id in ["1", "2", "3"] {
            _ = session.receive(Array(MilterClientSide.message(id: id).dropLast(2)))
            #expect(session.receive([.abort]) == [.abandoned])
            let events = session.receive(MilterClientSide.message(id: id))
            guard case .endOfMessage(let envelope) = try #require(events.last) else { return #expect(Bool(false)) }
            #expect(envelope.queueID == id && envelope.recipients.count == 2)
            #expect(events.content == Self.text)
            #expect(try MilterClientSide.replies(in: session.finish(.accept)) == [.continue])
        }
        // An abort after the end of a message is not an event.
        #expect(session.receive([.abort]).isEmpty)
        #expect(session.receive([.quit]) == [.close(nil)])
    }

    @Test func `the next client on one connection inherits nothing`() throws {
        var session = opened()
        _ = session.receive(MilterClientSide.message())
        #expect(session.receive([.quitForNext]) == [.abandoned])
        let events = session.receive([.mail(MilterAddress("<>")), .recipient(MilterAddress("<b@c>")), .endOfHeader])
        guard case .begin(let envelope) = try #require(events.first) else { return #expect(Bool(false)) }
        #expect(envelope.client == nil && envelope.macros.isEmpty)
    }

    @Test func `an irregular address is read as the mail server reads it`() throws {
        var session = opened()
        func macro(_ command: Character, _ name: String, _ value: String) -> MilterCommand {
            .macros(stage: command.asciiValue ?? 0, [MilterMacro(name: name, value: value)])
        }
        let events = session.receive([
            macro("M", "mail_addr", "kate@x.test"), .mail(MilterAddress("<kate(x)@x.test>")),
            macro("R", "rcpt_addr", "bob@x.test"), .recipient(MilterAddress("bob@x.test>")),
            macro("R", "rcpt_addr", "Other@x.test"), .recipient(MilterAddress("<carol@x.test>")),
            .recipient(MilterAddress("<dan@x.test >")), .endOfHeader,
        ])
        guard case .begin(let envelope) = try #require(events.first) else { return #expect(Bool(false)) }
        #expect(envelope.sender.address == "kate@x.test")
        #expect(envelope.recipients.map(\.address) == ["bob@x.test", "carol@x.test", "dan@x.test "])
    }

    @Test func `a recipient that the server refused is not kept`() throws {
        var session = opened()
        let refused = [MilterMacro(name: "rcpt_mailer", value: "error")]
        let events = session.receive([
            .mail(MilterAddress("<a@b>")), .macros(stage: UInt8(ascii: "R"), refused),
            .recipient(MilterAddress("<no@b>")),
            .recipient(MilterAddress("<yes@b>")), .endOfHeader,
        ])
        guard case .begin(let envelope) = try #require(events.first) else { return #expect(Bool(false)) }
        #expect(envelope.recipients.map(\.address) == ["yes@b"])
    }

    @Test func `a closed connection abandons its message`() {
        var session = opened()
        #expect(session.disconnect().isEmpty)
        session = waiting()
        #expect(session.disconnect() == [.abandoned])
        #expect(session.disconnect().isEmpty)
        #expect(session.progress() == nil)
    }

    @Test(
        arguments: [
            [.mail(MilterAddress("<a@b>"))],
            [.negotiate(MilterClientSide.postfix), .negotiate(MilterClientSide.postfix)],
            MilterClientSide.opening() + [.recipient(MilterAddress("<a@b>"))],
            MilterClientSide.opening() + [.endOfHeader],
            MilterClientSide.opening() + [.body(ByteBuffer())],
            MilterClientSide.opening() + [.endOfMessage(ByteBuffer())],
            MilterClientSide.opening() + [.data],
            MilterClientSide.opening() + [.mail(MilterAddress("<a@b>"))] + MilterClientSide.opening().suffix(1),
            MilterClientSide.opening() + MilterClientSide.message() + [.mail(MilterAddress("<a@b>"))],
            MilterClientSide.opening() + MilterClientSide.message() + [.body(ByteBuffer())],
            MilterClientSide.opening() + MilterClientSide.message().dropLast() + [.recipient(MilterAddress("<a@b>"))],
            MilterClientSide.opening() + MilterClientSide.message().dropLast() + [.endOfHeader],
        ] as [[MilterCommand]]
    )
    func `a command out of order ends the connection`(commands: [MilterCommand]) throws {
        var session = MilterSession()
        let events = session.receive(commands)
        let code = try #require(commands.last).code
        #expect(events.last == .close(.unexpectedCommand(code)))
        let isBegun = events.contains { if case .begin = $0 { true } else { false } }
        #expect(events.contains(.abandoned) == isBegun)
        #expect(session.receive(commands).isEmpty)
    }
}
