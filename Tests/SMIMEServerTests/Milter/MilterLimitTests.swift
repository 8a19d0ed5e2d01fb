import NIOCore
import SMIMEServer
import Testing

/// Reactions to a mail server that violates the protocol or its limits.
@Suite struct MilterLimitTests {
    private func session(_ change: (inout MilterLimits) -> Void = { _ in }) -> MilterSession {
        var limits = MilterLimits()
        change(&limits)
        var session = MilterSession(limits: limits)
        _ = session.receive(MilterClientSide.opening())
        return session
    }

    @Test func `an oversized packet ends the connection and its message`() {
        var session = session()
        _ = session.receive(Array(MilterClientSide.message().dropLast()))
        let events = session.receive(ByteBuffer(bytes: [0x7F, 0, 0, 0, 0x42]))
        #expect(events == [.abandoned, .close(.packetTooLarge(length: 0x7F00_0000))])
    }

    @Test(arguments: [
        MilterCommand.abort, .helo("x"), .unknown("x"), .quitForNext, .macros(stage: 0x4D, []),
        .mail(MilterAddress("<>")),
    ])
    func `a flood of useless commands ends the connection`(command: MilterCommand) {
        var session = session { $0.idleCommands = 100 }
        let events = (0..<200).flatMap { _ in session.receive([command]) }
        #expect(events.last == .close(.tooManyCommands))
    }

    @Test func `many messages and recipients with macros are no flood`() throws {
        var session = session { $0.idleCommands = 20 }
        for _ in 0..<50 {
            let macros = MilterCommand.macros(stage: UInt8(ascii: "R"), [MilterMacro(name: "i", value: "1")])
            let recipients = (0..<50).flatMap { [macros, MilterCommand.recipient(MilterAddress("<a\($0)@b>"))] }
            _ = session.receive(
                [.mail(MilterAddress("<a@b>"))] + recipients + [.endOfHeader, .endOfMessage(ByteBuffer())]
            )
            _ = try session.finish(.accept)
        }
    }

    @Test func `recipients beyond the limit end the connection`() {
        var session = session { $0.recipients = 10 }
        _ = session.receive([.mail(MilterAddress("<a@b>"))])
        #expect(session.receive((0..<10).map { .recipient(MilterAddress("<a\($0)@b>")) }).isEmpty)
        #expect(session.receive([.recipient(MilterAddress("<x@b>"))]) == [.close(.envelopeTooLarge)])
    }

    @Test func `arguments beyond the limit end the connection`() {
        var session = session { $0.envelope = 100 }
        let long = MilterAddress("<a@b>", parameters: Array(repeating: "", count: 95))
        #expect(session.receive([.mail(long)]) == [.close(.envelopeTooLarge)])
    }

    @Test(arguments: [50, 1_000])
    func `a header that is too large is kept and cannot be changed`(fields: Int) throws {
        var session = session {
            $0.header = 2_000
            $0.headerFields = 100
        }
        let value = fields == 50 ? String(repeating: "x", count: 100) : ""
        let header = (0..<fields).map { _ in ("X-A", value) }
        let events = session.receive(MilterClientSide.message(header: header))
        #expect(events.content == header.map { "X-A:\($0.1)\r\n" }.joined() + "\r\none\r\ntwo\r\n")
        #expect(throws: MilterEditError.headerTooLarge) {
            try session.finish(.replace(MilterReplacement(header: [], body: .unchanged)))
        }
        _ = try session.finish(.accept)
        // The next message is unaffected.
        _ = session.receive(MilterClientSide.message(header: [("X-A", " 1")]))
        _ = try session.finish(.replace(MilterReplacement(header: [], body: .unchanged)))
    }
}
