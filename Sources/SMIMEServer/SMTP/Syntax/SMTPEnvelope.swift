/// From whom a message is and to whom it goes, with everything the client said of it before its content.
package struct SMTPEnvelope: Hashable, Sendable {
    /// One recipient that was accepted.
    package struct Recipient: Hashable, Sendable {
        /// The mailbox between the angle brackets, without a source route; quoted strings stay as they were written.
        package var address: String
        /// The parameters of RCPT (NOTIFY, ORCPT), in order.
        package var parameters: [SMTPParameter]

        package init(_ address: String, parameters: [SMTPParameter] = []) {
            self.address = address
            self.parameters = parameters
        }
    }

    /// The sender's mailbox; empty for the null reverse path.
    package var sender: String
    /// The parameters of MAIL (BODY, SIZE, SMTPUTF8, RET, ENVID), in order.
    package var parameters: [SMTPParameter]
    /// In the order of RCPT; the same mailbox may come twice.
    package var recipients: [Recipient]
    /// What the mail server said of its client.
    package var xforward: XFORWARDAttributes
    /// The name that the client gave with EHLO, LHLO or HELO.
    package var clientName: String

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

    /// The parameter of MAIL with a keyword, which is given in capitals.
    package func parameter(_ keyword: String) -> SMTPParameter? { parameters.first { $0.keyword == keyword } }
}

/// What a mail server says of the client from which it has a message, decoded. `[UNAVAILABLE]` stands for what it does not know.
///
/// Postfix, XFORWARD_README
package typealias XFORWARDAttributes = [XFORWARDAttribute: String]

/// The attributes of XFORWARD.
package enum XFORWARDAttribute: String, CaseIterable, Sendable {
    /// The client's host name.
    case name = "NAME"
    /// Its network address, without brackets.
    case address = "ADDR"
    /// Its TCP port.
    case port = "PORT"
    /// SMTP or ESMTP.
    case transportProtocol = "PROTO"
    /// The name that it gave.
    case helo = "HELO"
    /// The mail server's queue id.
    case identifier = "IDENT"
    /// LOCAL or REMOTE.
    case source = "SOURCE"
}
