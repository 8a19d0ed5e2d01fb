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
    /// The user who logged in to send the message (`{auth_authen}`); nil if there is none.
    package var user: String? { macros["auth_authen"].flatMap { $0.isEmpty ? nil : $0 } }
}

/// A sender or recipient as in the SMTP command.
package struct MilterAddress: Hashable, Sendable {
    /// The path as the client wrote it, usually in angle brackets. The mail server identifies the recipient by this text.
    package let argument: String
    /// The ESMTP parameters as the client wrote them, such as `NOTIFY=NEVER`.
    package let parameters: [String]

    package init(_ argument: String, parameters: [String] = []) {
        self.argument = argument
        self.parameters = parameters
    }

    /// The address without brackets and source route; empty for the null sender.
    ///
    /// RFC 5321 §4.1.2, appendix C
    package var address: String {
        var path = argument[...]
        if path.first == "<", path.last == ">" { path = path.dropFirst().dropLast() }
        if path.first == "@", let colon = path.firstIndex(of: ":") { path = path[path.index(after: colon)...] }
        return String(path)
    }
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
