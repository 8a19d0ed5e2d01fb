extension SMTPServerSession {
    /// The maximum number of RCPT commands in a transaction, as a multiple of the maximum number of recipients.
    private static let recipientCommandFactor = 10

    /// Handles MAIL (RFC 5321 §4.1.1.2).
    mutating func mail(_ argument: Substring) {
        guard countWithoutContent() else { return }
        guard let name = client.name else {
            return reject(503, "5.5.1", text: "\(settings.dialect == .lmtp ? "LHLO" : "EHLO") first")
        }
        guard transaction == nil else { return reject(503, "5.5.1", text: "there is a sender already") }
        guard let path = argument.dropping("FROM:").flatMap({ SMTPPath($0) }) else {
            return reject(501, "5.1.7", text: "MAIL FROM:<address> is expected")
        }
        guard let parameters = parameters(of: path) else { return }
        for parameter in parameters {
            if let refusal = refusal(ofMailParameter: parameter) {
                if refusal.code == 552 {
                    let envelope = SMTPEnvelope(sender: path.mailbox, xforward: client.xforward, clientName: name)
                    self.refusal = Refusal(reason: .size, envelope: envelope)
                }
                return reject(refusal.code, refusal.enhancedCode ?? "5.5.4", text: refusal.text)
            }
        }
        let allowsUTF8 = parameters.contains { $0.keyword == "SMTPUTF8" }
        guard allowsUTF8 || path.mailbox.utf8.allSatisfy({ $0 < 0x80 }) else {
            return reject(553, "5.6.7", text: "a non-ASCII address needs SMTPUTF8")
        }
        guard path.mailbox.isEmpty || path.mailbox.utf8.contains(UInt8(ascii: "@")) else {
            return reject(553, "5.1.7", text: "the address needs a domain")
        }
        let envelope = SMTPEnvelope(
            sender: path.mailbox,
            parameters: parameters,
            xforward: client.xforward,
            clientName: name
        )
        transaction = Transaction(envelope: envelope, allowsUTF8: allowsUTF8, size: argument.utf8.count)
        reply(250, "2.1.0", text: "Ok")
    }

    /// Handles RCPT (RFC 5321 §4.1.1.3).
    ///
    /// Invalid recipients are not counted as errors, because too many errors end the connection, and the message would be late
    /// for the other recipients.
    mutating func recipient(_ argument: Substring) {
        // The transaction is changed in place, because a copy would copy all recipients for every RCPT.
        guard transaction?.isBegun == false else {
            return reject(503, "5.5.1", text: transaction == nil ? "MAIL first" : "in the midst of a message")
        }
        transaction?.recipientCommands += 1
        let limit = settings.maximumRecipients.multipliedOrMaximum(by: Self.recipientCommandFactor)
        guard transaction?.recipientCommands ?? 0 <= limit else { return endForAbuse("too many recipients") }
        guard let path = argument.dropping("TO:").flatMap({ SMTPPath($0) }), !path.mailbox.isEmpty else {
            return reply(501, "5.1.3", text: "RCPT TO:<address> is expected")
        }
        guard let parameters = parameters(of: path) else { return }
        for parameter in parameters {
            if let refusal = refusal(ofRecipientParameter: parameter) { return reply(refusal) }
        }
        guard transaction?.allowsUTF8 == true || argument.utf8.allSatisfy({ $0 < 0x80 }) else {
            return reply(553, "5.6.7", text: "a non-ASCII address needs SMTPUTF8")
        }
        let (count, size) = (transaction?.envelope.recipients.count ?? 0, transaction?.size ?? 0)
        guard count < settings.maximumRecipients, argument.utf8.count <= settings.maximumEnvelopeSize - size else {
            return reply(452, "4.5.3", text: "too many recipients in one message")
        }
        guard !refusesMoreRecipients || size < settings.assuredEnvelopeSize else {
            return reply(452, "4.3.1", text: "no memory for more recipients now")
        }
        transaction?.size += argument.utf8.count
        transaction?.envelope.recipients.append(.init(path.mailbox, parameters: parameters))
        reply(250, "2.1.5", text: "Ok")
    }

    /// The parameters after a path; nil if they are invalid, in which case a reply was sent.
    private mutating func parameters(of path: SMTPPath) -> [SMTPParameter]? {
        var parameters: [SMTPParameter] = []
        for word in path.rest.split(separator: " ") {
            guard let parameter = SMTPParameter(word), !parameters.contains(where: { $0.keyword == parameter.keyword })
            else {
                reply(501, "5.5.4", text: "bad parameter")
                return nil
            }
            parameters.append(parameter)
        }
        guard parameters.isEmpty || client.isExtended else {
            reply(555, "5.5.4", text: "parameters need EHLO")
            return nil
        }
        return parameters
    }

    private func refusal(ofMailParameter parameter: SMTPParameter) -> SMTPReply? {
        let value = parameter.value
        let isGood: Bool
        switch parameter.keyword {
        case "SIZE" where settings.extensions.contains(.size):
            guard let value, 1...20 ~= value.utf8.count, value.utf8.allSatisfy(\.isDigit) else {
                isGood = false
                break
            }
            // A number of 20 digits can be too large for an integer.
            guard let size = Int(value), size <= settings.maximumSize else {
                return SMTPReply(552, "5.3.4", text: "a message may have at most \(settings.maximumSize) bytes")
            }
            isGood = true
        case "BODY" where settings.extensions.contains(.eightBitMIME):
            isGood = ["7BIT", "8BITMIME"].contains(value?.uppercased())
        case "SMTPUTF8" where settings.extensions.contains(.smtpUTF8): isGood = value == nil
        case "RET" where settings.extensions.contains(.deliveryStatusNotification):
            isGood = ["FULL", "HDRS"].contains(value?.uppercased())
        case "ENVID" where settings.extensions.contains(.deliveryStatusNotification):
            isGood = value.map { $0.utf8.count <= 100 && XText.decode($0) != nil } ?? false
        default: return SMTPReply(555, "5.5.4", text: "\(parameter.keyword) is not a parameter of MAIL here")
        }
        return isGood ? nil : SMTPReply(501, "5.5.4", text: "bad value of \(parameter.keyword)")
    }

    private func refusal(ofRecipientParameter parameter: SMTPParameter) -> SMTPReply? {
        let isGood: Bool
        switch parameter.keyword {
        case "NOTIFY" where settings.extensions.contains(.deliveryStatusNotification):
            let words = (parameter.value ?? "").uppercased().split(separator: ",", omittingEmptySubsequences: false)
            isGood =
                words == ["NEVER"]
                || words.allSatisfy { ["SUCCESS", "FAILURE", "DELAY"].contains($0) } && words.count <= 3
        case "ORCPT" where settings.extensions.contains(.deliveryStatusNotification):
            isGood = Self.isOriginalRecipient(parameter.value ?? "")
        default: return SMTPReply(555, "5.5.4", text: "\(parameter.keyword) is not a parameter of RCPT here")
        }
        return isGood ? nil : SMTPReply(501, "5.5.4", text: "bad value of \(parameter.keyword)")
    }

    /// Whether `text` is an address type and an address in xtext. After the type `utf-8` (RFC 6533 §3) any text is
    /// accepted.
    ///
    /// RFC 3461 §4.2
    private static func isOriginalRecipient(_ text: String) -> Bool {
        let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard text.utf8.count <= 500, parts.count == 2, !parts[1].isEmpty,
            !parts[0].isEmpty, parts[0].utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") })
        else { return false }
        return parts[0].lowercased() == "utf-8" || XText.decode(parts[1]) != nil
    }
}

extension Int {
    /// The product, or the largest integer on overflow.
    fileprivate func multipliedOrMaximum(by factor: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
