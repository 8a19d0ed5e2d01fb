extension SMTPServerSession {
    mutating func perform(_ command: SMTPCommand) {
        switch command.verb {
        case "MAIL": mail(command.argument)
        case "RCPT": recipient(command.argument)
        case "DATA": data(command.argument)
        case "BDAT" where settings.extensions.contains(.chunking): chunk(command.argument)
        case "QUIT": end(with: SMTPReply(221, "2.0.0", text: "\(settings.hostName) closing"))
        case "LHLO" where settings.dialect == .lmtp: hello(command.argument, isExtended: true)
        case "EHLO" where settings.dialect == .smtp: hello(command.argument, isExtended: true)
        case "HELO" where settings.dialect == .smtp: hello(command.argument, isExtended: false)
        case "RSET", "NOOP", "VRFY", "EXPN", "HELP": performAuxiliary(command)
        case "XFORWARD" where settings.offersXFORWARD: xforward(command.argument)
        default: unknown(command.verb)
        }
    }

    /// Handles RSET, NOOP, VRFY, EXPN and HELP. The number of commands that transfer no message content is limited.
    private mutating func performAuxiliary(_ command: SMTPCommand) {
        guard countWithoutContent() else { return }
        switch command.verb {
        case "RSET":
            endTransaction()
            reply(250, "2.0.0", text: "Ok")
        case "VRFY":
            if command.argument.isEmpty {
                reject(501, "5.5.4", text: "VRFY needs a name")
            } else {
                reply(252, "2.5.2", text: "Cannot VRFY user, but will accept message and attempt delivery")
            }
        case "EXPN": reject(502, "5.5.1", text: "There are no lists here")
        case "HELP": reply(214, "2.0.0", text: "See RFC 5321 and RFC 2033")
        default: reply(250, "2.0.0", text: "Ok")
        }
    }

    /// Counts a command that transfers no message content; returns false if the limit is exceeded, which ends the
    /// connection.
    mutating func countWithoutContent() -> Bool {
        counters.withoutContent += 1
        guard counters.withoutContent > Counters.maximumWithoutContent else { return true }
        endForAbuse("too many commands without a message")
        return false
    }

    private mutating func unknown(_ verb: String) {
        counters.unknown += 1
        guard counters.unknown <= Counters.maximumUnknown else { return endForAbuse("too many unknown commands") }
        let isKnownElsewhere = [
            "AUTH", "BDAT", "EHLO", "ETRN", "HELO", "LHLO", "STARTTLS", "TURN", "XCLIENT", "XFORWARD",
        ].contains(verb)
        if isKnownElsewhere, !["EHLO", "HELO", "LHLO"].contains(verb) {
            reply(502, "5.5.1", text: "\(verb) is not offered here")
        } else {
            reply(
                500,
                "5.5.1",
                text: "\(verb) is not an \(settings.dialect == .lmtp ? "LMTP (RFC 2033)" : "SMTP") command"
            )
        }
    }

    /// Handles EHLO, LHLO and HELO, which also reset the transaction.
    ///
    /// RFC 5321 §4.1.1.1, §4.1.4
    private mutating func hello(_ argument: Substring, isExtended: Bool) {
        guard countWithoutContent() else { return }
        let name = argument.prefix { $0 != " " }
        guard !name.isEmpty, name.utf8.count <= 255, name.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return reject(501, "5.5.4", text: "a host name must follow")
        }
        endTransaction()
        client = Client(name: String(name), isExtended: isExtended)
        var lines = [settings.hostName]
        if isExtended {
            for offer in SMTPExtension.allCases where settings.extensions.contains(offer) && offer != .xforward {
                lines.append(offer == .size ? "SIZE \(settings.maximumSize)" : offer.rawValue)
            }
            if settings.offersXFORWARD {
                lines.append((["XFORWARD"] + XFORWARDAttribute.allCases.map(\.rawValue)).joined(separator: " "))
            }
        }
        reply(250, nil, text: lines.joined(separator: "\n"))
    }

    /// Handles XFORWARD (Postfix, XFORWARD_README).
    private mutating func xforward(_ argument: Substring) {
        guard countWithoutContent() else { return }
        guard client.isExtended else { return reject(503, "5.5.1", text: "EHLO first") }
        guard transaction == nil else { return reject(503, "5.5.1", text: "in the midst of a transaction") }
        var attributes = client.xforward
        let words = argument.split(separator: " ")
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let attribute = XFORWARDAttribute(rawValue: parts[0].uppercased()),
                let bytes = XText.decode(parts[1]), 1...255 ~= bytes.count,
                bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), let value = String(validating: bytes, as: UTF8.self)
            else { return reject(501, "5.5.4", text: "bad attribute") }
            attributes[attribute] = value
        }
        guard !words.isEmpty else { return reject(501, "5.5.4", text: "an attribute must follow") }
        client.xforward = attributes
        reply(250, "2.0.0", text: "Ok")
    }
}

extension SMTPServerSession {
    /// The position in the dialogue.
    enum State: Sendable {
        /// The greeting was not sent yet.
        case greeting
        /// The next line is a command.
        case command
        /// The caller got the envelope (`.message`), and will accept or refuse the message. The command begins the content.
        case deciding(ContentCommand)
        /// The content after DATA is being received.
        case content
        /// The remaining bytes of a chunk are being received.
        case chunk(remaining: Int, isLast: Bool)
        /// The content after DATA is being received, but is refused; the reply is sent at its end.
        case discarding(SMTPReply)
        /// A refused chunk is being skipped. Then the reply is sent `count` times.
        case discardingChunk(remaining: Int, SMTPReply, count: Int)
        /// The message is complete (`.endOfMessage`), and the session waits for `finishMessage`.
        case finishing
        /// `.close` follows after the last reply.
        case closing
        case closed

        /// Whether all further input is ignored.
        var isOver: Bool {
            switch self {
            case .closing, .closed: true
            default: false
            }
        }
    }

    /// The command with which content begins.
    enum ContentCommand: Sendable {
        case data
        case chunk(length: Int, isLast: Bool)
    }

    /// What the client reported about itself.
    struct Client: Sendable {
        /// The name of the client; nil before EHLO, LHLO or HELO.
        var name: String?
        /// Whether the client supports extensions: it sent EHLO or LHLO, not HELO.
        var isExtended = false
        /// The attributes of XFORWARD for the next message.
        var xforward: XFORWARDAttributes = [:]
    }

    /// A transaction, from MAIL to the end of the message.
    struct Transaction: Sendable {
        var envelope: SMTPEnvelope
        /// Whether addresses may contain UTF-8.
        let allowsUTF8: Bool
        /// The number of bytes in the addresses and parameters.
        var size = 0
        /// The number of RCPT commands, including refused ones.
        var recipientCommands = 0
        /// Whether the client has begun to send content, with DATA or BDAT.
        var isBegun = false
        var decoder = SMTPContentDecoder(framing: .dotStuffed)
        /// The number of bytes of content.
        var contentSize = 0
    }

    /// Counters for commands since the last complete message; a connection ends when one of them exceeds its limit.
    struct Counters: Sendable {
        /// The number of unknown commands.
        var unknown = 0
        /// The number of invalid commands. Most invalid RCPT commands are not counted (see `recipient`).
        var errors = 0
        /// The number of commands that transferred no message content, such as RSET, EHLO and MAIL.
        var withoutContent = 0

        static let maximumUnknown = 5
        static let maximumErrors = 20
        static let maximumWithoutContent = 100
    }

    /// Whether the caller has received an envelope whose message has no reply yet.
    var hasMessageInFlight: Bool { transaction?.isBegun == true }

    /// The number of replies at the end of a message.
    var finalReplyCount: Int { settings.dialect == .lmtp ? transaction?.envelope.recipients.count ?? 1 : 1 }
}
