import NIOCore

/// The received part of a message.
struct MilterMessage: Sendable {
    private(set) var envelope: MilterEnvelope
    /// Whether the envelope was already passed to the caller.
    private(set) var isBegun = false
    /// The fields of the header; empty once the header is too large to be changed (`isHeaderKept`).
    private(set) var fields: [MilterField] = []
    private(set) var isHeaderKept = true

    private let limits: MilterLimits
    private var envelopeBytes = 0
    private var headerBytes = 0
    /// The bytes of the header that were not passed to the caller yet.
    private var waiting = ByteBuffer()

    /// - Throws: `.envelopeTooLarge`
    init(from sender: MilterAddress, client: MilterClient?, limits: MilterLimits) throws(MilterViolation) {
        envelope = MilterEnvelope(sender: sender)
        envelope.client = client
        self.limits = limits
        try count(sender)
    }

    /// - Throws: `.envelopeTooLarge`
    mutating func add(_ recipient: MilterAddress) throws(MilterViolation) {
        guard envelope.recipients.count < limits.recipients else { throw .envelopeTooLarge }
        try count(recipient)
        envelope.recipients.append(recipient)
    }

    private mutating func count(_ address: MilterAddress) throws(MilterViolation) {
        // The terminating zero bytes count, so that many empty strings reach the limit, too.
        envelopeBytes += address.parameters.reduce(address.argument.utf8.count + 1) { $0 + $1.utf8.count + 1 }
        guard envelopeBytes <= limits.envelope else { throw .envelopeTooLarge }
    }

    /// The number of bytes of envelope and header that are held.
    var size: Int { envelopeBytes + (isHeaderKept ? headerBytes : 0) }

    /// The envelope with all macros received so far.
    mutating func envelope(with macros: [UInt8: [MilterMacro]]) -> MilterEnvelope {
        isBegun = true
        // A later command's macros replace an earlier one's.
        for command in "CHMRTNLBE".utf8 {
            for macro in macros[command] ?? [] { envelope.macros[macro.name] = macro.value }
        }
        return envelope
    }

    /// Stores a field for later changes.
    ///
    /// - Returns: bytes of the header to pass to the caller, once there are enough; otherwise nil.
    mutating func add(_ field: MilterField, leadingSpace: Bool) -> ByteBuffer? {
        let field = field.normalized
        let text = field.bytes(leadingSpace: leadingSpace)
        if field.isMessageID { envelope.hasMessageID = true }
        waiting.writeBytes(text)
        headerBytes += text.count
        if headerBytes > limits.header || fields.count >= limits.headerFields {
            isHeaderKept = false
            fields = []
        } else if isHeaderKept {
            fields.append(field)
        }
        return waiting.readableBytes >= 65_536 ? takeWaiting() : nil
    }

    /// The rest of the header with the empty line at its end.
    mutating func endHeader() -> ByteBuffer {
        waiting.writeStaticString("\r\n")
        return takeWaiting()
    }

    private mutating func takeWaiting() -> ByteBuffer {
        defer { waiting = ByteBuffer() }
        return waiting
    }
}

/// The envelope of a message, and what the mail server reports about its connection.
package struct MilterEnvelope: Hashable, Sendable {
    package var sender: MilterAddress
    /// The recipients that the mail server accepted, in order. If another milter follows and refuses a recipient, that
    /// recipient is included nevertheless; so this milter must be the last of `smtpd_milters`.
    package var recipients: [MilterAddress] = []
    /// The SMTP client; nil if the mail server does not report it.
    package var client: MilterClient?
    /// The macros received so far; their names have no braces.
    package var macros: [String: String] = [:]
    /// Whether the header, as far as it was received, has a Message-ID.
    package internal(set) var hasMessageID = false

    package init(sender: MilterAddress) {
        self.sender = sender
    }

    /// The mail server's queue id (`i`); nil if unknown. Postfix assigns it with the first accepted recipient.
    package var queueID: String? { macros["i"] }
    /// The mail server's name (`j`); nil if unknown.
    package var serverName: String? { macros["j"] }
}

/// A sender or recipient as in the SMTP command.
package struct MilterAddress: Hashable, Sendable {
    /// The path as the client wrote it, usually in angle brackets. The mail server identifies the recipient by this text.
    package let argument: String
    /// The ESMTP parameters as the client wrote them, such as `NOTIFY=NEVER`.
    package let parameters: [String]
    /// The address as the mail server reads it (the macros `{mail_addr}` and `{rcpt_addr}`); nil if it does not say.
    var addressFromMacro: String?

    package init(_ argument: String, parameters: [String] = []) {
        self.argument = argument
        self.parameters = parameters
    }

    /// The path without brackets.
    private var path: Substring {
        argument.first == "<" && argument.last == ">" ? argument.dropFirst().dropLast() : argument[...]
    }

    /// The address without brackets and source route; empty for the null sender. For a path that does not follow RFC
    /// 5321, such as one with a comment, this is the address that the mail server reports in its macro, if that is
    /// valid.
    ///
    /// RFC 5321 §4.1.2, appendix C
    package var address: String {
        var path = path
        if path.first == "@", let colon = path.firstIndex(of: ":") { path = path[path.index(after: colon)...] }
        guard !path.isEmpty, !SMTPPath.isMailbox(path), let addressFromMacro, addressFromMacro.contains("@"),
            SMTPPath.isMailbox(addressFromMacro[...])
        else { return String(path) }
        return addressFromMacro
    }

    /// Whether the mail server certainly finds this recipient by `argument`. Postfix ignores the removal of a recipient with a
    /// source route.
    var isRemovable: Bool { SMTPPath.isMailbox(path) || SMTPPath.isLocalPart(path) }
}

/// The SMTP client of a connection.
package struct MilterClient: Hashable, Sendable {
    /// The address family of the client's connection (`SMFIA_…` of Sendmail's mfdef.h).
    package enum Family: UInt8, Sendable {
        case unknown = 0x55
        case unix = 0x4C
        case ipv4 = 0x34
        case ipv6 = 0x36
    }

    /// The name that the mail server found for the address, or the address in brackets.
    package var name: String
    package var family: Family
    /// The TCP port; 0 if there is none.
    package var port: UInt16
    /// The IP address or the socket's path; empty for `.unknown`.
    package var address: String

    package init(name: String, family: Family, port: UInt16, address: String) {
        self.name = name
        self.family = family
        self.port = port
        self.address = address
    }
}

/// The names in the journal of messages that came through a milter.
package enum MilterJournalName {
    /// The text between the name of the mail server and the digest.
    private static let mark = "/milter "

    /// - Parameters:
    ///   - server: the name of the mail server.
    ///   - digest: the digest of the envelope, in hexadecimal.
    static func name(server: String, digest: String) -> String { "\(server)\(mark)\(digest)" }

    /// The number of seconds for which the journal's record of a message from a milter is valid; nil for a name that is not
    /// from a milter.
    ///
    /// A later message may have the same name. If the service stopped between the verdict and the removal of the record, a
    /// record without this limit would prevent sending the copies of the later message. Clients try again within this time
    /// (Postfix's `maximal_backoff_time` is 4,000 s).
    package static func recordLifetime(of name: String) -> Double? { name.contains(mark) ? 4_200 : nil }
}
