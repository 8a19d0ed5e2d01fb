import InternetMessage
import NIOCore
import SMIMEServer

extension Target {
    /// The mail server's side of the milter protocol. The first byte selects the stage of the dialogue and the verdict, the
    /// second byte how the rest is split.
    static let milter = Target(name: "milter") { bytes in
        guard bytes.count > 2 else { return }
        let rest = ByteBuffer(bytes: bytes.dropFirst(2))
        var whole = MilterRun(choices: bytes[0])
        whole.receive(rest)
        var cut = MilterRun(choices: bytes[0])
        // The verdict is given between two pieces, so bytes in the same piece as the end of a message would be out of order.
        guard !whole.hasEnded else { return }
        let size = 1 + Int(bytes[1])
        var pieces = rest
        while pieces.readableBytes > 0, let piece = pieces.readSlice(length: min(size, pieces.readableBytes)) {
            cut.receive(piece)
        }
        require(cut.events == whole.events, "events do not depend on how the bytes come")
        whole.end()
    }
}

/// Feeds a session and checks the invariants of its events.
private struct MilterRun {
    private var session = MilterSession()
    private let choices: UInt8
    private var isBegun = false
    private var isClosed = false
    private var content: [UInt8] = []
    private(set) var events: [MilterSession.Event] = []
    /// Whether a message was complete.
    private(set) var hasEnded = false

    init(choices: UInt8) {
        self.choices = choices
        let isOld = choices & 1 != 0
        let offer = MilterOptions(
            version: isOld ? 2 : 6,
            actions: MilterActions(rawValue: isOld ? 0x3F : 0x1FF),
            steps: MilterSteps(rawValue: isOld ? 0x7F : 0x1F_FFFF)
        )
        var commands: [MilterCommand] = []
        if choices & 6 != 0 { commands.append(.negotiate(offer)) }
        if choices & 4 != 0 { commands += [.mail(MilterAddress("<a@b>")), .recipient(MilterAddress("<c@d>"))] }
        if choices & 6 == 6 {
            commands += ["Subject", "From", "X"].compactMap { MilterField(name: $0, value: [0x20, 0x61]) }.map {
                .header($0)
            }
        }
        var bytes = ByteBuffer()
        for command in commands { command.packet.write(to: &bytes) }
        receive(bytes)
    }

    mutating func receive(_ bytes: ByteBuffer) {
        for event in session.receive(bytes) { take(event) }
        if case .endOfMessage = events.last { answer() }
    }

    mutating func end() {
        let last = session.disconnect()
        require(last.isEmpty || isBegun && last == [.abandoned], "a connection that goes abandons what was begun")
        require(session.receive(ByteBuffer(string: "\0\0\0\u{1}A")).isEmpty, "nothing follows the end")
    }

    private mutating func take(_ event: MilterSession.Event) {
        require(!isClosed, "nothing follows the end")
        events.append(event)
        switch event {
        case .write(let bytes): requireReplies(bytes)
        case .begin:
            require(!isBegun, "a message begins once")
            isBegun = true
            content = []
        case .content(let bytes):
            require(isBegun, "content belongs to a message")
            content += bytes.readableBytesView
        case .endOfMessage:
            require(isBegun, "a message that ends was begun")
            hasEnded = true
        case .abandoned:
            require(isBegun, "a message that is abandoned was begun")
            isBegun = false
        case .close:
            require(!isBegun, "no message stays open")
            isClosed = true
        }
    }

    /// Gives a verdict; in half of the cases the new message consists of the bytes of the old one in another order.
    private mutating func answer() {
        isBegun = false
        var verdict = MilterVerdict.accept
        if choices & 8 != 0, let header = try? HeaderBlock(parsing: content) {
            let fields = choices & 16 == 0 ? Array(header.fields) : header.fields.reversed()
            let bytes = fields.flatMap { $0.terminatedBytes(.crlf) }
            let body: MilterReplacement.Body = choices & 32 == 0 ? .unchanged : .follows
            verdict = .replace(MilterReplacement(header: bytes, body: body, removing: [0]))
        } else if let refusal = MilterRefusal(
            code: 550,
            status: "5.7.1",
            text: String(decoding: content, as: UTF8.self)
        ) {
            verdict = .refuse(refusal)
        }
        if let bytes = try? session.finish(verdict) {
            requireReplies(bytes)
            requireReplies(session.replaceBody(ByteBuffer(bytes: content)))
            requireReplies(session.finishBody())
        } else if let bytes = try? session.finish(.accept) {
            requireReplies(bytes)
        }
        require(session.progress() == nil, "a verdict ends the message")
    }

    private func requireReplies(_ bytes: ByteBuffer) {
        var decoder = MilterPacketDecoder()
        decoder.append(bytes)
        var count = 0
        while let packet = try? decoder.next() {
            count += packet.data.readableBytes + 5
            guard let reply = try? MilterReply(packet) else { return require(false, "replies are well-formed") }
            require((try? MilterReply(reply.packet)) == reply, "replies are read as they are written")
        }
        require(count == bytes.readableBytes, "whole packets are written")
    }
}
