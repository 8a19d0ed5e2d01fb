import NIOCore
import SMIMEServer
import Testing

@Suite struct MilterVerdictTests {
    private func waiting(_ options: MilterOptions = MilterClientSide.postfix) -> MilterSession {
        var session = MilterSession()
        _ = session.receive(MilterClientSide.opening(options) + MilterClientSide.message())
        return session
    }

    private func replies(to verdict: MilterVerdict) throws -> [MilterReply] {
        var session = waiting()
        return try MilterClientSide.replies(in: session.finish(verdict))
    }

    private func refusal(_ text: String) throws -> MilterRefusal {
        try #require(MilterRefusal(code: 550, status: "5.7.1", text: text))
    }

    private static let header = Array("From: alice@example.org\r\nSubject: test\r\n folded\r\n".utf8)

    @Test func `a verdict without changes is one reply`() throws {
        #expect(try replies(to: .accept) == [.continue])
        #expect(try replies(to: .discard) == [.discard])
        #expect(try replies(to: .refuse(refusal("5% no"))) == [.replyCode("550 5.7.1 5% no")])
    }

    @Test func `a refusal has printable lines that fit SMTP replies`() throws {
        let words = Array(repeating: "word", count: 200).joined(separator: " ")
        guard case .replyCode(let lines) = try replies(to: .refuse(refusal("first\r\nsécond\u{1B}[1m\n\(words)"))).first
        else {
            return #expect(Bool(false))
        }
        let parts = lines.split(separator: "\r\n")
        #expect(parts.count == 5)
        #expect(parts[0] == "550-5.7.1 first")
        #expect(parts[1] == "550-5.7.1 s??cond?[1m")
        #expect(parts.last?.hasPrefix("550 5.7.1 word") == true)
        #expect(parts.allSatisfy { $0.utf8.count < 512 })
        #expect(try replies(to: .refuse(refusal("\n"))) == [.replyCode("550 5.7.1 Message refused")])
    }

    @Test(arguments: [
        (250, "2.0.0"), (550, "4.7.1"), (451, "5.7.1"), (550, "5.7"), (550, "5.7.1x"), (550, "5..1"), (600, "6.0.0"),
    ])
    func `a refusal with inconsistent codes is rejected`(code: Int, status: String) {
        #expect(MilterRefusal(code: code, status: status, text: "no") == nil)
    }

    @Test func `sender and recipients are changed with their arguments`() throws {
        let sender = MilterAddress("<bounce@example.org>", parameters: ["RET=HDRS"])
        let replacement = MilterReplacement(header: Self.header, body: .unchanged, removing: [1, 1], sender: sender)
        #expect(
            try replies(to: .replace(replacement)) == [
                .changeSender(sender), .deleteRecipient("<carol@example.net>"), .continue,
            ]
        )
    }

    /// The replies to a verdict that removes all `recipients`.
    private func removing(_ recipients: [String]) throws -> [MilterReply] {
        var session = MilterSession()
        let message = MilterClientSide.message()
        let envelope = [message[1]] + recipients.map { MilterCommand.recipient(MilterAddress($0)) }
        _ = session.receive(MilterClientSide.opening() + envelope + message.dropFirst(4))
        let places = Array(recipients.indices)
        let replacement = MilterReplacement(header: Self.header, body: .unchanged, removing: places, sender: nil)
        return try MilterClientSide.replies(in: session.finish(.replace(replacement)))
    }

    @Test func `each spelling of a recipient is removed`() throws {
        let names = [
            "<é@x.test>", "<e\u{301}@x.test>", "<E\u{301}@x.test>", "k@x.test", "\u{212A}@x.test", "<\"a b\"@x.test>",
        ]
        #expect(try removing(names) == names.map { .deleteRecipient($0) } + [.continue])
    }

    @Test(arguments: [
        "<@relay.test:bob@x.test>", "@relay.test:bob@x.test", "<bob(x)@x.test>", "bob@x.test>", "<bob @ x.test>",
    ])
    func `a message is not divided if the mail server may not find a recipient`(_ recipient: String) {
        #expect(throws: MilterEditError.self) { try removing(["<carol@x.test>", recipient]) }
    }

    @Test func `progress is reported while the message waits`() throws {
        var session = waiting()
        let progress = try #require(session.progress())
        #expect(try MilterClientSide.replies(in: progress) == [.progress])
        _ = try session.finish(.accept)
        #expect(session.progress() == nil)
    }

    @Test func `an impossible change is an error and leaves the session waiting`() throws {
        var session = waiting()
        func error(_ replacement: MilterReplacement) -> MilterEditError? {
            do throws(MilterEditError) {
                _ = try session.finish(.replace(replacement))
                return nil
            } catch {
                return error
            }
        }
        #expect(error(MilterReplacement(header: Self.header, body: .unchanged, removing: [2])) == .noSuchRecipient)
        for broken in ["no field\r\n", "A: 1\r\n\r\nbody", "A: 1\0\r\n", "A : 1\r\n", "From a@b Mon\r\nA: 1\r\n"] {
            #expect(
                error(MilterReplacement(header: Array(broken.utf8), body: .unchanged)) == .malformedHeader,
                "\(broken)"
            )
        }
        let long = Array("X-Long: \(String(repeating: "a", count: 65_535))\r\n".utf8)
        #expect(error(MilterReplacement(header: Self.header + long, body: .unchanged)) == .fieldTooLong(name: "X-Long"))
        let many = Array(String(repeating: "X-Many: a\r\n", count: 2_001).utf8)
        #expect(error(MilterReplacement(header: Self.header + many, body: .unchanged)) == .tooManyEdits)
        #expect(try MilterClientSide.replies(in: session.finish(.accept)) == [.continue])
        #expect(throws: MilterEditError.notWaiting) { try session.finish(.accept) }
        #expect(session.replaceBody(ByteBuffer(string: "x")).readableBytes == 0)
        #expect(session.finishBody().readableBytes == 0)
    }

    @Test func `only changes that the server allows are sent`() throws {
        var session = waiting(MilterOptions(version: 6, actions: .addHeaders, steps: MilterClientSide.postfix.steps))
        let added = Self.header + Array("X-A: 1\r\n".utf8)
        #expect(throws: MilterEditError.actionNotOffered(.changeBody)) {
            try session.finish(.replace(MilterReplacement(header: added, body: .follows)))
        }
        #expect(throws: MilterEditError.actionNotOffered([.changeHeaders])) {
            try session.finish(
                .replace(MilterReplacement(header: Array("Subject: test\r\n folded\r\n".utf8), body: .unchanged))
            )
        }
        #expect(throws: MilterEditError.actionNotOffered(.deleteRecipients)) {
            try session.finish(.replace(MilterReplacement(header: Self.header, body: .unchanged, removing: [0])))
        }
        let bytes = try session.finish(.replace(MilterReplacement(header: added, body: .unchanged)))
        #expect(try MilterClientSide.replies(in: bytes).count == 2)
    }
}
