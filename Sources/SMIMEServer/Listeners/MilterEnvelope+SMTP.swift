import ByteStreams
import LibCrypto

extension SMTPEnvelope {
    /// Converts a milter's envelope to the envelope for the next hop.
    package init(_ envelope: MilterEnvelope) {
        self.init(
            sender: envelope.sender.address,
            parameters: envelope.sender.parameters.compactMap { SMTPParameter($0) },
            recipients: envelope.recipients.map { recipient in
                Recipient(recipient.address, parameters: recipient.parameters.compactMap { SMTPParameter($0) })
            },
            clientName: envelope.serverName ?? ""
        )
        hasMessageID = envelope.hasMessageID
        if let queueID = envelope.queueID, !queueID.isEmpty { xforward[.identifier] = queueID }
    }

    /// The name in the journal for a message that came through a milter; nil if the message has no Message-ID.
    ///
    /// A second attempt has another queue id, so the name consists of parts of the envelope. The journal adds a digest of the
    /// whole message. Without a Message-ID two messages with the same content would count as the same message, and the copies
    /// of the second one would not be sent.
    package var milterName: String? {
        guard hasMessageID else { return nil }
        let text = ([sender] + recipients.map(\.address)).joined(separator: "\n")
        guard let digest = try? DigestAlgorithm.sha256.digest(Array(text.utf8)) else { return nil }
        return MilterJournalName.name(server: clientName, digest: digest.hexadecimal)
    }
}

extension SMTPReply {
    /// The reply as a refusal by a milter. With code 421 the mail server would end its client's connection, so the code is
    /// changed.
    package var milterRefusal: MilterRefusal {
        let code = isSuccess ? 451 : passedOn.code
        let status = enhancedCode.map { "\($0)" } ?? "\(code / 100).0.0"
        return MilterRefusal(code: code, status: status, text: text) ?? .undetermined
    }
}

extension MilterEditError {
    /// The SMTP reply for the sender when the changes to a message fail.
    var reply: SMTPReply {
        switch self {
        case .fieldTooLong, .headerTooLarge, .malformedHeader, .tooManyEdits: SMTPReply(554, "5.6.0", text: description)
        case .actionNotOffered, .noSuchRecipient, .notWaiting: SMTPReply(451, "4.3.5", text: description)
        }
    }
}

extension MessageFlow.Placement {
    /// A failure before any copy was sent.
    static func failed(_ reply: SMTPReply, _ reason: String) -> Self { Self(failure: reply, reason: reason) }
}
