import NIOCore
import SMIMEServer
import TestSupport
import Testing

@Suite struct MilterPacketTests {
    private static func field(_ name: String, value: String) -> MilterField? {
        MilterField(name: name, value: Array(value.utf8))
    }

    private static let address = MilterAddress("<a@b>", parameters: ["RET=HDRS", "ENVID=1"])

    private static let commands: [MilterCommand] =
        MilterClientSide.opening() + MilterClientSide.message() + [
            .helo("client.example.com"), .data, .abort, .quit, .quitForNext, .unknown("XYZZY 1"),
            .endOfMessage(ByteBuffer(string: "rest\r\n")),
            .connect(MilterClient(name: "u", family: .unknown, port: 0, address: "")),
            .connect(MilterClient(name: "l", family: .unix, port: 0, address: "/run/s")),
            .connect(MilterClient(name: "6", family: .ipv6, port: 65_535, address: "IPv6:::1")),
            .negotiate(
                MilterOptions(version: 6, actions: .chooseMacros, steps: [], macros: [.mail: "i {auth_authen}"])
            ),
            .macros(stage: UInt8(ascii: "R"), []), .mail(MilterAddress("<>")),
        ]

    private static let replies: [MilterReply] = [
        .negotiated(MilterClientSide.postfix), .continue, .accept, .discard, .reject, .temporaryFailure, .shutdown,
        .connectionFailure, .skip, .progress, .quarantine(reason: "hm"), .replyCode("550 5.7.1 100% wrong, %s"),
        .addRecipient("<a@b>"), .addRecipientWithParameters(address), .deleteRecipient("<a@b>"), .changeSender(address),
        .changeSender(MilterAddress("<>")), .replaceBody(ByteBuffer(string: "one\r\n")),
    ]

    @Test(arguments: commands)
    func `a command is written and read again`(command: MilterCommand) throws {
        #expect(try MilterCommand(command.packet) == command)
    }

    @Test(arguments: replies)
    func `a reply is written and read again`(reply: MilterReply) throws {
        #expect(try MilterReply(reply.packet) == reply)
    }

    @Test func `changes of fields are written and read again`() throws {
        let field = try #require(Self.field("Subject", value: " a\n b"))
        for reply in [MilterReply.addHeader(field), .insertHeader(position: 1, field), .changeHeader(index: 7, field)] {
            #expect(try MilterReply(reply.packet) == reply)
        }
    }

    @Test func `packets have the bytes of Sendmail's protocol`() throws {
        func bytes(_ reply: MilterReply) -> [UInt8] {
            var buffer = ByteBuffer()
            reply.packet.write(to: &buffer)
            return Array(buffer.readableBytesView)
        }
        #expect(bytes(.continue) == [0, 0, 0, 1] + Array("c".utf8))
        #expect(bytes(.replyCode("451 4.3.0 5% off")) == [0, 0, 0, 19] + Array("y451 4.3.0 5%% off\0".utf8))
        let field = try #require(Self.field("X", value: " y"))
        #expect(
            bytes(.changeHeader(index: 2, field)) == [0, 0, 0, 10] + Array("m".utf8) + [0, 0, 0, 2]
                + Array("X\0 y\0".utf8)
        )
        #expect(bytes(.changeSender(Self.address)) == [0, 0, 0, 24] + Array("e<a@b>\0RET=HDRS ENVID=1\0".utf8))
        let offer = MilterOptions(version: 6, actions: [.addHeaders, .changeHeaders], steps: .leadingSpace)
        #expect(
            bytes(.negotiated(offer)) == [0, 0, 0, 13] + Array("O".utf8) + [0, 0, 0, 6, 0, 0, 0, 0x11, 0, 0x10, 0, 0]
        )
    }

    @Test(
        "malformed data is refused",
        arguments: [
            "O\0\0", "O\0\0\0\u{6}\0\0\0\0\0\0\0\0x", "D", "DMi", "DMi\0", "DMi\0value", "Chost", "Chost\0", "Chost\0X",
            "Chost\04", "Chost\04\0\0", "Chost\04\0\01.2.3.4", "Chost\0U\0", "Hname", "Hname\0more", "M", "M<a@b>",
            "M<a@b>\0SIZE", "R", "T\0", "Lname\0value", "Lname\0", "L\0value\0", "Lna me\0value\0", "Lna:me\0value\0",
            "Lname\0value\0more\0", "N\0", "A\0", "Q ", "K\0", "U", "Z", "\0", "c",
        ]
    )
    func malformed(text: String) throws {
        let bytes = Array(text.utf8)
        #expect(throws: MilterViolation.self) {
            try MilterCommand(MilterPacket(bytes[0], ByteBuffer(bytes: bytes.dropFirst())))
        }
    }

    @Test func `an address that is not UTF-8 is refused`() {
        let packet = MilterPacket(UInt8(ascii: "R"), ByteBuffer(bytes: [0x3C, 0xFF, 0x3E, 0]))
        #expect(throws: MilterViolation.malformed(command: UInt8(ascii: "R"))) { try MilterCommand(packet) }
    }

    @Test func `lengths are checked before bytes are buffered`() throws {
        func decode(_ bytes: [UInt8]) throws(MilterViolation) -> MilterPacket? {
            var decoder = MilterPacketDecoder()
            decoder.append(ByteBuffer(bytes: bytes))
            return try decoder.next()
        }
        #expect(throws: MilterViolation.emptyPacket) { try decode([0, 0, 0, 0]) }
        #expect(throws: MilterViolation.packetTooLarge(length: 65_537)) { try decode([0, 1, 0, 1, 0x42]) }
        #expect(throws: MilterViolation.packetTooLarge(length: 0xFFFF_FFFF)) { try decode([255, 255, 255, 255, 0x4C]) }
        #expect(try decode([0, 1, 0, 0, 0x42]) == nil)
        #expect(try decode([0, 4, 0, 0, 0x4C]) == nil)
        #expect(throws: MilterViolation.packetTooLarge(length: 262_145)) { try decode([0, 4, 0, 1, 0x4C]) }
        #expect(try decode([0, 0, 0]) == nil)
    }

    @Test func `an address is read without brackets and source route`() {
        #expect(MilterAddress("<@a,@b:c@d>").address == "c@d")
        #expect(MilterAddress("<>").address.isEmpty)
        #expect(MilterAddress("c@d").address == "c@d")
        #expect(MilterAddress("<\"a:b\"@d>").address == "\"a:b\"@d")
    }
}
