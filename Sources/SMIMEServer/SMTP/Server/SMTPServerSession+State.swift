extension SMTPServerSession {
    /// Where in the dialogue a session is.
    enum State: Sendable {
        /// Nothing was said yet.
        case greeting
        /// The next line is a command.
        case command
        /// `.message` is out; how the content will come.
        case deciding(ContentCommand)
        /// The content comes behind DATA.
        case content
        /// So many bytes of a chunk are still to come.
        case chunk(remaining: Int, isLast: Bool)
        /// The content comes behind DATA, but was refused with a reply that waits for its end.
        case discarding(SMTPReply)
        /// A chunk comes that was refused, and the reply is due behind it so many times.
        case discardingChunk(remaining: Int, SMTPReply, count: Int)
        /// `.endOfMessage` is out.
        case finishing
        /// `.close` follows the last reply.
        case closing
        case closed

        /// Whether nothing the client says is looked at any more.
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

    /// What a client has said of itself.
    struct Client: Sendable {
        /// The name it gave; nil before EHLO, LHLO or HELO.
        var name: String?
        /// Whether it knows of extensions: EHLO or LHLO, and not HELO.
        var isExtended = false
        /// For the next message.
        var xforward: XFORWARDAttributes = [:]
    }

    /// From MAIL to the end of the message.
    struct Transaction: Sendable {
        var envelope: SMTPEnvelope
        /// Whether UTF-8 may stand in addresses.
        let allowsUTF8: Bool
        /// Bytes of the addresses and parameters.
        var size = 0
        /// RCPT commands, those refused counted.
        var recipientCommands = 0
        /// Whether content was announced.
        var isBegun = false
        var decoder = SMTPContentDecoder(framing: .dotStuffed)
        /// Bytes of content.
        var contentSize = 0
    }

    /// What is counted so that a connection ends at last that brings no mail.
    struct Counters: Sendable {
        /// Commands that were unknown.
        var unknown = 0
        /// Commands that were wrong.
        var errors = 0
        /// Commands that did nothing for a message, since the last message.
        var idle = 0

        static let maximumUnknown = 5
        static let maximumErrors = 20
        static let maximumIdle = 100
    }

    /// Whether the caller has an envelope whose message is not answered.
    var hasMessageInFlight: Bool { transaction?.isBegun == true }

    /// How many replies there are at the end of a message.
    var finalReplyCount: Int { settings.dialect == .lmtp ? transaction?.envelope.recipients.count ?? 1 : 1 }
}
