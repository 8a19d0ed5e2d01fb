/// The sender and recipients of a message, and everything else that the client sent before the content.
package struct SMTPEnvelope: Hashable, Sendable {
    /// An accepted recipient.
    package struct Recipient: Hashable, Sendable {
        /// The mailbox between the angle brackets, without a source route. Quoted strings are not changed.
        package var address: String
        /// The parameters of RCPT (NOTIFY, ORCPT), in order.
        package var parameters: [SMTPParameter]

        package init(_ address: String, parameters: [SMTPParameter] = []) {
            self.address = address
            self.parameters = parameters
        }
    }

    /// The sender's mailbox; empty for the null reverse-path.
    package var sender: String
    /// The parameters of MAIL (BODY, SIZE, SMTPUTF8, RET, ENVID), in order.
    package var parameters: [SMTPParameter]
    /// The recipients, in the order of RCPT. The same mailbox may occur twice.
    package var recipients: [Recipient]
    /// The attributes that the mail server reported about its client.
    package var xforward: XFORWARDAttributes
    /// The name that the client gave with EHLO, LHLO or HELO. Through a milter: the mail server's name (macro `j`).
    package var clientName: String
    /// Whether the message has a Message-ID. This is known only for messages that came through a milter, and false for all
    /// others.
    package var hasMessageID = false

    package init(
        sender: String,
        parameters: [SMTPParameter] = [],
        recipients: [Recipient] = [],
        xforward: XFORWARDAttributes = [:],
        clientName: String = ""
    ) {
        self.sender = sender
        self.parameters = parameters
        self.recipients = recipients
        self.xforward = xforward
        self.clientName = clientName
    }

    /// The parameter of MAIL with the keyword `keyword`, which must be in capitals; nil if there is none.
    package func parameter(_ keyword: String) -> SMTPParameter? { parameters.first { $0.keyword == keyword } }
}

/// The attributes that a mail server reports about the client that sent a message, decoded. The value `[UNAVAILABLE]` means
/// unknown.
///
/// Postfix, XFORWARD_README
package typealias XFORWARDAttributes = [XFORWARDAttribute: String]

/// The attributes of XFORWARD.
package enum XFORWARDAttribute: String, CaseIterable, Sendable {
    /// The client's host name.
    case name = "NAME"
    /// The client's network address, without brackets.
    case address = "ADDR"
    /// The client's TCP port.
    case port = "PORT"
    /// The client's protocol: SMTP or ESMTP.
    case mailProtocol = "PROTO"
    /// The name in the client's EHLO or HELO.
    case helo = "HELO"
    /// The mail server's queue id.
    case identifier = "IDENT"
    /// The client's origin: LOCAL or REMOTE.
    case source = "SOURCE"
}
