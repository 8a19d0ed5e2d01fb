import NIOCore
import SMIMEServer

/// Drives a server session as a connection would, and records its output.
struct ServerDriver {
    /// An event; adjacent events of one kind are joined.
    enum Entry: Equatable {
        case replies(String)
        case message(SMTPEnvelope)
        case content(String)
        case endOfMessage
        case abandoned
        case close
    }

    /// The answer to a `.message`.
    enum Decision {
        case accept
        case refuse(SMTPReply)
        /// No answer.
        case wait
    }

    var session: SMTPServerSession
    var decision = Decision.accept
    /// The answers to `.endOfMessage`; nil for no answer.
    var answers: (@Sendable (SMTPEnvelope) -> [SMTPReply])? = { envelope in
        envelope.recipients.map { _ in SMTPReply(250, "2.0.0", text: "taken") }
    }
    private(set) var entries: [Entry] = []

    init(
        _ dialect: SMTPServerSession.Dialect = .smtp,
        maximumSize: Int = 1 << 20,
        greets: Bool = true,
        change: (inout SMTPServerSession.Settings) -> Void = { _ in }
    ) {
        var settings = SMTPServerSession.Settings(dialect: dialect, hostName: "gw.test", maximumSize: maximumSize)
        settings.offersXFORWARD = true
        change(&settings)
        session = SMTPServerSession(settings)
        pump()
        guard greets else { return }
        send(dialect == .lmtp ? "LHLO client.test\r\n" : "EHLO client.test\r\n")
        entries = []
    }

    /// Sends `text` to the session, in pieces of at most `size` bytes.
    mutating func send(_ text: String, inPiecesOf size: Int = .max) { send(Array(text.utf8), inPiecesOf: size) }

    mutating func send(_ bytes: [UInt8], inPiecesOf size: Int = .max) {
        var position = 0
        while position < bytes.count {
            let end = size < bytes.count - position ? position + size : bytes.count
            var buffer = ByteBuffer(bytes: bytes[position..<end])
            repeat {
                let before = buffer.readableBytes
                session.receive(&buffer)
                pump()
                if buffer.readableBytes == before { break }
            } while buffer.readableBytes > 0
            position = end
        }
    }

    /// Processes all pending events.
    mutating func pump() {
        while let event = session.next() {
            switch event {
            case .reply(let buffer): append(replies: String(buffer: buffer))
            case .message(let envelope):
                entries.append(.message(envelope))
                switch decision {
                case .accept: session.accept()
                case .refuse(let reply): session.refuse(reply)
                case .wait: break
                }
            case .content(let buffer): append(content: String(buffer: buffer))
            case .endOfMessage:
                entries.append(.endOfMessage)
                if let answers, let envelope = envelopes.last { session.finishMessage(with: answers(envelope)) }
            case .abandoned: entries.append(.abandoned)
            case .close: entries.append(.close)
            }
        }
    }

    mutating func endOfInput() {
        session.endOfInput()
        pump()
    }

    var envelopes: [SMTPEnvelope] {
        entries.compactMap { if case .message(let envelope) = $0 { envelope } else { nil } }
    }

    /// The content of all messages together.
    var content: String { entries.map { if case .content(let text) = $0 { text } else { "" } }.joined() }

    var replies: String { entries.map { if case .replies(let text) = $0 { text } else { "" } }.joined() }

    /// The codes of the replies; a multi-line reply counts once.
    var codes: [Int] {
        replies.split(separator: "\r\n").filter { $0.dropFirst(3).first != "-" }.compactMap { Int($0.prefix(3)) }
    }

    /// The entries without the content of abandoned messages: how much of that content is passed on depends on how the input
    /// is split.
    var settledEntries: [Entry] {
        var copy = self
        copy.entries = []
        for (index, entry) in entries.enumerated() {
            let next = entries[index...].first { $0 == .endOfMessage || $0 == .abandoned }
            switch entry {
            case .content(let text): if next == .endOfMessage { copy.append(content: text) }
            case .replies(let text): copy.append(replies: text)
            default: copy.entries.append(entry)
            }
        }
        return copy.entries
    }

    var isClosed: Bool { entries.last == .close }

    private mutating func append(replies text: String) {
        if case .replies(let before) = entries.last {
            entries[entries.count - 1] = .replies(before + text)
        } else {
            entries.append(.replies(text))
        }
    }

    private mutating func append(content text: String) {
        if case .content(let before) = entries.last {
            entries[entries.count - 1] = .content(before + text)
        } else {
            entries.append(.content(text))
        }
    }
}

extension ServerDriver {
    /// An envelope for one recipient.
    static let envelope = "MAIL FROM:<a@x.test>\r\nRCPT TO:<b@y.test>\r\n"
}
