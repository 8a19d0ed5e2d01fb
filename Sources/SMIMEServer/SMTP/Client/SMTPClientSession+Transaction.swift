extension SMTPClientSession {
    /// The maximum length of an XFORWARD command in bytes, the same as for all commands in RFC 5321 §4.5.3.1.4.
    private static let maximumCommandLength = 512

    mutating func beginTransaction(_ transaction: SMTPTransaction) {
        if let refusal = refusal(of: transaction) {
            events.append(.refused([refusal]))
            return becomeReady()
        }
        progress = TransactionProgress(
            transaction: transaction,
            commands: xforwardCommands(transaction.envelope.xforward) + [mailCommand(transaction)],
            passesNotification: announced.contains(.deliveryStatusNotification)
        )
        state = .envelope
        sendCommands()
    }

    /// The refusal of a message that the next hop cannot accept according to its announcement, or that SMTP cannot express;
    /// nil if there is no reason.
    private func refusal(of transaction: SMTPTransaction) -> SMTPRefusal? {
        let envelope = transaction.envelope
        func isWritable(_ address: String) -> Bool {
            SMTPPath("<\(address)>").map { $0.mailbox == address && $0.rest.isEmpty } ?? false
        }
        guard Self.isClean(envelope.sender), isWritable(envelope.sender) else {
            return SMTPRefusal(.sender, SMTPReply(553, "5.1.7", text: "the sender's address cannot be written in SMTP"))
        }
        for (index, recipient) in envelope.recipients.enumerated() {
            guard !recipient.address.isEmpty, Self.isClean(recipient.address), isWritable(recipient.address) else {
                let reply = SMTPReply(553, "5.1.3", text: "the recipient's address cannot be written in SMTP")
                return SMTPRefusal(.recipient(index), reply)
            }
        }
        guard !envelope.recipients.isEmpty else {
            return SMTPRefusal(.sender, SMTPReply(554, "5.5.1", text: "no recipients"))
        }
        if Self.needsUTF8(envelope), !announced.contains(.smtpUTF8) {
            return SMTPRefusal(.sender, SMTPReply(550, "5.6.7", text: "the next hop does not support SMTPUTF8"))
        }
        if transaction.content.isEightBit, !announced.contains(.eightBitMIME) {
            return SMTPRefusal(.sender, SMTPReply(554, "5.6.3", text: "the next hop does not support 8BITMIME"))
        }
        if let maximumSize, transaction.content.size > maximumSize {
            return SMTPRefusal(
                .sender,
                SMTPReply(552, "5.3.4", text: "the next hop accepts messages of at most \(maximumSize) bytes")
            )
        }
        return nil
    }

    private static func isClean(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    private static func needsUTF8(_ envelope: SMTPEnvelope) -> Bool {
        envelope.parameter("SMTPUTF8") != nil || !envelope.sender.utf8.allSatisfy { $0 < 0x80 }
            || envelope.recipients.contains { !$0.address.utf8.allSatisfy { $0 < 0x80 } }
    }

    private func mailCommand(_ transaction: SMTPTransaction) -> String {
        let envelope = transaction.envelope
        var parameters: [String] = []
        for parameter in envelope.parameters {
            switch parameter.keyword {
            case "BODY" where announced.contains(.eightBitMIME) && !transaction.content.isEightBit,
                "RET" where announced.contains(.deliveryStatusNotification),
                "ENVID" where announced.contains(.deliveryStatusNotification):
                parameters.append(parameter.text)
            default: break
            }
        }
        if transaction.content.isEightBit { parameters.append("BODY=8BITMIME") }
        if Self.needsUTF8(envelope) { parameters.append("SMTPUTF8") }
        if announced.contains(.size) { parameters.append("SIZE=\(transaction.content.size)") }
        return "MAIL FROM:<\(envelope.sender)>\(parameters.map { " \($0)" }.joined())\r\n"
    }

    /// XFORWARD commands with the attributes that the next hop accepts. An attribute whose encoding does not fit into a command
    /// is left out.
    private func xforwardCommands(_ attributes: XFORWARDAttributes) -> [String] {
        guard announced.contains(.xforward) else { return [] }
        var commands: [String] = []
        var line = ""
        for attribute in XFORWARDAttribute.allCases where xforwardAttributes.contains(attribute) {
            guard let value = attributes[attribute], 1...255 ~= value.utf8.count else { continue }
            let word = " \(attribute.rawValue)=\(XText.encode(value.utf8))"
            let room = Self.maximumCommandLength - 2 - word.utf8.count
            guard "XFORWARD".utf8.count <= room else { continue }
            if line.utf8.count > room {
                commands.append("\(line)\r\n")
                line = ""
            }
            line += line.isEmpty ? "XFORWARD\(word)" : word
        }
        return line.isEmpty ? commands : commands + ["\(line)\r\n"]
    }
}
