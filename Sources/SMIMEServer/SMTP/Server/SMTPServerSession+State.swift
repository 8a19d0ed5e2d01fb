extension SMTPServerSession {
    /// Where in the dialogue a session is.
    enum State: Sendable {
        /// Before the greeting.
        case greeting
        /// The next line is a command.
        case command
        /// After `.message`, with the command that brings the content.
        case deciding(ContentCommand)
        /// The content follows DATA.
        case content
        /// The remaining bytes of a chunk.
        case chunk(remaining: Int, isLast: Bool)
        /// The content follows DATA but is refused, with a reply at its end.
        case discarding(SMTPReply)
        /// A refused chunk is skipped, and then the reply is sent the given number of times.
        case discardingChunk(remaining: Int, SMTPReply, count: Int)
        /// After `.endOfMessage`.
        case finishing
        /// `.close` comes after the last reply.
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

    /// What the client has told about itself.
    struct Client: Sendable {
        /// The name of the client; nil before EHLO, LHLO or HELO.
        var name: String?
        /// Whether it supports extensions: EHLO or LHLO, not HELO.
        var isExtended = false
        /// The attributes of XFORWARD for the next message.
        var xforward: XFORWARDAttributes = [:]
    }

    /// From MAIL to the end of the message.
    struct Transaction: Sendable {
        var envelope: SMTPEnvelope
        /// Whether addresses may contain UTF-8.
        let allowsUTF8: Bool
        /// Bytes of the addresses and parameters.
        var size = 0
        /// RCPT commands, including refused ones.
        var recipientCommands = 0
        /// Whether content was announced.
        var isBegun = false
        var decoder = SMTPContentDecoder(framing: .dotStuffed)
        /// Bytes of content.
        var contentSize = 0
    }

    /// Counters that end a connection without mail.
    struct Counters: Sendable {
        /// Commands that were unknown.
        var unknown = 0
        /// Invalid commands.
        var errors = 0
        /// Commands without effect on a message, since the last message.
        var idle = 0

        static let maximumUnknown = 5
        static let maximumErrors = 20
        static let maximumIdle = 100
    }

    /// Whether the caller has an envelope whose message has no reply yet.
    var hasMessageInFlight: Bool { transaction?.isBegun == true }

    /// The number of replies at the end of a message.
    var finalReplyCount: Int { settings.dialect == .lmtp ? transaction?.envelope.recipients.count ?? 1 : 1 }
}
