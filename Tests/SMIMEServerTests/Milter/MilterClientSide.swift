import NIOCore
import SMIMEServer

/// The mail server's side of a milter connection, as a value.
struct MilterClientSide {
    /// The options that Postfix 3.7 offers with version 6.
    static let postfix = MilterOptions(
        version: 6,
        actions: MilterActions(rawValue: 0x1FF),
        steps: MilterSteps(rawValue: 0x1F_FFFF)
    )
    /// The options that Postfix offers with `milter_protocol = 2`.
    static let oldest = MilterOptions(
        version: 2,
        actions: MilterActions(rawValue: 0x3F),
        steps: MilterSteps(rawValue: 0x7F)
    )

    /// The commands for a message with two recipients, beginning with the macros of MAIL.
    static func message(
        header: [(String, String)] = [("From", " alice@example.org"), ("Subject", " test\n folded")],
        body: [String] = ["one\r\n", "two\r\n"],
        id: String = "4ZQ1"
    ) -> [MilterCommand] {
        [
            .macros(stage: UInt8(ascii: "M"), [MilterMacro(name: "auth_authen", value: "alice")]),
            .mail(MilterAddress("<alice@example.org>", parameters: ["SIZE=100", "BODY=8BITMIME"])),
            .recipient(MilterAddress("<bob@example.net>", parameters: ["NOTIFY=NEVER"])),
            .recipient(MilterAddress("<carol@example.net>")),
            .macros(stage: UInt8(ascii: "N"), [MilterMacro(name: "i", value: id)]),
        ] + header.compactMap { name, value in MilterField(name: name, value: Array(value.utf8)).map { .header($0) } }
            + [.endOfHeader] + body.map { .body(ByteBuffer(string: $0)) } + [.endOfMessage(ByteBuffer())]
    }

    /// The commands before the first message.
    static func opening(_ options: MilterOptions = postfix) -> [MilterCommand] {
        [
            .negotiate(options),
            .macros(stage: UInt8(ascii: "C"), [MilterMacro(name: "j", value: "mx.example.org")]),
            .connect(MilterClient(name: "client.example.com", family: .ipv4, port: 4711, address: "192.0.2.1")),
        ]
    }

    static func bytes(of commands: [MilterCommand]) -> ByteBuffer {
        var bytes = ByteBuffer()
        for command in commands { command.packet.write(to: &bytes) }
        return bytes
    }

    /// The replies in the output of a session.
    static func replies(in bytes: ByteBuffer) throws -> [MilterReply] {
        var decoder = MilterPacketDecoder()
        decoder.append(bytes)
        var replies: [MilterReply] = []
        while let packet = try decoder.next() { replies.append(try MilterReply(packet)) }
        return replies
    }
}

extension MilterSession {
    /// Processes several commands, as many as a mail server sends at once.
    mutating func receive(_ commands: [MilterCommand]) -> [Event] {
        receive(MilterClientSide.bytes(of: commands))
    }
}

extension [MilterSession.Event] {
    /// The message's bytes.
    var content: String {
        var all = ""
        for case .content(let bytes) in self { all += String(buffer: bytes) }
        return all
    }

    /// The replies in the output.
    func replies() throws -> [MilterReply] {
        var all = ByteBuffer()
        for case .write(let bytes) in self { all.writeImmutableBuffer(bytes) }
        return try MilterClientSide.replies(in: all)
    }

    /// The same events, with adjacent pieces of content joined.
    var joined: [MilterSession.Event] {
        reduce(into: []) { events, event in
            if case .content(let next) = event, case .content(var last) = events.last {
                last.writeImmutableBuffer(next)
                events[events.count - 1] = .content(last)
            } else {
                events.append(event)
            }
        }
    }
}
