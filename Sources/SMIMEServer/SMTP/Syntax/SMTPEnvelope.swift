/// The sender and recipients of a message, with everything the client sent before the content.
package struct SMTPEnvelope: Hashable, Sendable {
    /// An accepted recipient.
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
    /// What the mail server reported about its client.
    package var xforward: XFORWARDAttributes
    /// The name that the client gave with EHLO, LHLO or HELO.
    package var clientName: String
    /// Whether the message has a Message-ID; false for one that did not come through a milter, where it is not asked.
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

    /// The parameter of MAIL with the given keyword in capitals.
    package func parameter(_ keyword: String) -> SMTPParameter? { parameters.first { $0.keyword == keyword } }
}

/// What a mail server reports about the client that sent a message, decoded. `[UNAVAILABLE]` means unknown.
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
    /// The name in its EHLO or HELO.
    case helo = "HELO"
    /// The mail server's queue id.
    case identifier = "IDENT"
    /// LOCAL or REMOTE.
    case source = "SOURCE"
}
