extension SMTPServerSession {
    /// The position in the dialogue.
    enum State: Sendable {
        /// The greeting was not sent yet.
        case greeting
        /// The next line is a command.
        case command
        /// `.message` was returned. The command is the one that begins the content.
        case deciding(ContentCommand)
        /// The content after DATA is being received.
        case content
        /// The remaining bytes of a chunk are being received.
        case chunk(remaining: Int, isLast: Bool)
        /// The content after DATA is being received, but is refused; the reply is sent at its end.
        case discarding(SMTPReply)
        /// A refused chunk is being skipped. Then the reply is sent `count` times.
        case discardingChunk(remaining: Int, SMTPReply, count: Int)
        /// `.endOfMessage` was returned.
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

    /// Counters for commands; a connection ends when one of them exceeds its limit.
    struct Counters: Sendable {
        /// The number of unknown commands.
        var unknown = 0
        /// The number of invalid commands.
        var errors = 0
        /// The number of commands that transferred no message content, such as RSET, EHLO and MAIL, since the last message.
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
