import InternetMessage
import NIOCore
import SMIMEServer

extension Target {
    /// Both sides of SMTP: the first bytes select the side, the stage of the dialogue, and how the rest is split.
    static let smtp = Target(name: "smtp") { bytes in
        guard bytes.count > 2 else { return }
        var cuts = Cuts(bytes.dropFirst(2), seed: bytes[1])
        if bytes[0] & 1 == 0 {
            var run = ServerRun(choices: bytes[0])
            while let piece = cuts.next() { run.receive(piece) }
            run.end()
        } else {
            var run = ClientRun(choices: bytes[0])
            while let piece = cuts.next() { run.receive(piece) }
            run.end()
        }
    }
}

/// Splits bytes after each byte 0xFE, which is dropped, and at sizes derived from a seed; seed 0 splits no further.
private struct Cuts {
    private var rest: ArraySlice<UInt8>
    private let seed: UInt8
    private var state: UInt32

    init(_ bytes: ArraySlice<UInt8>, seed: UInt8) {
        (rest, self.seed, state) = (bytes, seed, UInt32(seed))
    }

    mutating func next() -> ByteBuffer? {
        guard !rest.isEmpty else { return nil }
        state = state &* 1_664_525 &+ 1_013_904_223
        let size = seed == 0 ? rest.count : 1 + Int(state >> 24) % (1 + Int(seed))
        let piece = rest.prefix(size)
        guard let end = piece.firstIndex(of: 0xFE) else {
            rest = rest.dropFirst(size)
            return ByteBuffer(bytes: piece)
        }
        rest = rest[(end + 1)...]
        return ByteBuffer(bytes: piece[..<end])
    }
}

/// Feeds a server session and checks the invariants of its events.
private struct ServerRun {
    private var session: SMTPServerSession
    private let choices: UInt8
    private var (bytesIn, contentOut, events) = (0, 0, 0)
    private var isClosed = false
    /// Whether a message is between `.message` and its end, and whether its content is allowed to arrive.
    private var (isBegun, isAccepted) = (false, false)
    private var replies = SMTPReplyParser()
    private var stuffing = DotStuffing()
    private var recipients = 0

    init(choices: UInt8) {
        self.choices = choices
        let isLMTP = choices & 2 != 0
        var settings = SMTPServerSession.Settings(
            dialect: isLMTP ? .lmtp : .smtp,
            hostName: "gw.test",
            maximumSize: choices & 4 != 0 ? 200 : 1 << 20
        )
        settings.offersXFORWARD = true
        settings.maximumInput = 4096
        session = SMTPServerSession(settings)
        takeEvents()
        let start = [
            "", "EHLO x\r\n", "EHLO x\r\nMAIL FROM:<> SMTPUTF8\r\nRCPT TO:<b@y.test>\r\n",
            "EHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n",
        ][Int(choices >> 3 & 3)]
        receive(ByteBuffer(string: isLMTP && !start.isEmpty ? "L\(start.dropFirst())" : start))
    }

    mutating func receive(_ piece: ByteBuffer) {
        var piece = piece
        bytesIn += piece.readableBytes
        repeat {
            let before = piece.readableBytes
            session.receive(&piece)
            require(before - piece.readableBytes <= 4096, "no more is taken than there is room for")
            takeEvents()
            if piece.readableBytes == before { break }
        } while piece.readableBytes > 0
    }

    mutating func end() {
        session.endOfInput()
        takeEvents()
        require(isClosed, "a session ends with its client")
        require(session.next() == nil, "no event follows the end")
    }

    private mutating func takeEvents() {
        while let event = session.next() {
            require(!isClosed, "no event follows the end")
            events += 1
            require(events <= 4 * bytesIn + 16, "events are few")
            take(event)
        }
    }

    private mutating func take(_ event: SMTPServerSession.Event) {
        switch event {
        case .reply(var buffer):
            require(
                buffer.readableBytesView.allSatisfy { 0x20...0x7E ~= $0 || $0 == 13 || $0 == 10 },
                "replies are ASCII"
            )
            replies.receive(&buffer)
            while let item = replies.next() { require(item != .malformed, "replies are well-formed") }
        case .message(let envelope):
            require(!isBegun && !envelope.recipients.isEmpty, "a message has recipients, and is one at a time")
            (isBegun, isAccepted, recipients) = (true, choices & 32 == 0, envelope.recipients.count)
            stuffing = DotStuffing()
            if isAccepted {
                session.accept()
            } else {
                isBegun = false
                session.refuse(SMTPReply(451, "4.3.1", text: "busy"))
            }
        case .content(let buffer):
            require(isBegun && isAccepted, "content belongs to a message")
            contentOut += buffer.readableBytes
            require(contentOut <= bytesIn, "no more content comes out than went in")
            require(stuffing.encode(buffer) != nil, "what was taken can be sent on")
        case .endOfMessage:
            require(isBegun && isAccepted, "a message that ends has begun")
            require(stuffing.end() != nil, "what was taken can be sent on")
            isBegun = false
            session.finishMessage(with: Array(repeating: SMTPReply(250, "2.0.0", text: "taken"), count: recipients))
        case .abandoned:
            require(isBegun, "a message that is abandoned has begun")
            isBegun = false
        case .close:
            require(!isBegun, "no message stays open")
            isClosed = true
        }
    }
}

/// Feeds a client session and checks the invariants of its events.
private struct ClientRun {
    private var session = SMTPClientSession(hostName: "gw.test")
    private let choices: UInt8
    private var isOver = false
    private var (isSending, isSent) = (false, false)
    private var transactions = 0

    init(choices: UInt8) {
        self.choices = choices
        if choices & 2 != 0 {
            let more = choices & 32 != 0 ? "250-CHUNKING\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250-DSN\r\n" : ""
            receive(
                ByteBuffer(
                    string: "220 x\r\n250-x\r\n250-PIPELINING\r\n\(more)250-SIZE 1000\r\n250 XFORWARD NAME HELO\r\n"
                )
            )
        }
    }

    mutating func receive(_ piece: ByteBuffer) {
        var piece = piece
        session.receive(&piece)
        require(piece.readableBytes == 0, "all is taken")
        takeEvents()
    }

    mutating func end() {
        session.endOfInput()
        takeEvents()
        require(isOver, "a session ends with its server")
        require(session.next() == nil, "no event follows the end")
    }

    private mutating func takeEvents() {
        while let event = session.next() {
            require(!isOver, "no event follows the end")
            switch event {
            case .write(let buffer):
                let isClean = buffer.readableBytesView.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 13 || $0 == 10 }
                require(isClean && buffer.readableBytesView.suffix(2).elementsEqual([13, 10]), "commands are lines")
            case .ready: begin()
            case .sendContent: sendContent()
            case .accepted, .refused:
                if case .accepted = event { require(isSent, "what was accepted was sent") }
                (isSending, isSent) = (false, false)
            case .probed: require(!isSending, "a probe has no content")
            case .unusable(let failure):
                require(failure.outcome != .unknown || isSent, "the hop has at most what was sent")
                isOver = true
            }
        }
    }

    private mutating func begin() {
        transactions += 1
        // A message that is refused without asking the next hop makes the session ready immediately.
        guard transactions <= 20 else { return session.quit() }
        let envelope = SMTPEnvelope(
            sender: "",
            parameters: ["RET=FULL"].compactMap { SMTPParameter($0) },
            recipients: (0..<(choices & 4 == 0 ? 2 : 250)).map { .init("r\($0)@y.test") },
            xforward: [.name: "a b", .helo: "x"]
        )
        let content = SMTPTransaction.Content(size: 9, isEightBit: choices & 8 != 0)
        session.begin(SMTPTransaction(envelope, content: content, isProbe: transactions % 3 == 0))
    }

    private mutating func sendContent() {
        isSending = true
        // In some cases the connection is left waiting for content.
        guard choices & 16 == 0 else { return }
        for text in [".\r", "\n.x\r\n", ".", "y"] { _ = session.send(ByteBuffer(string: text)) }
        _ = session.endOfContent()
        isSent = true
    }
}
