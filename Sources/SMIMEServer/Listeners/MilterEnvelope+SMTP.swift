import ByteStreams
import LibCrypto

extension SMTPEnvelope {
    /// A milter's envelope as the next hop gets it.
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

    /// How the journal knows a message that came through a milter: a second attempt has another queue id, but the same envelope. The
    /// journal adds a digest of the message, Message-ID and all.
    ///
    /// Nil without a Message-ID: two messages with the same content would count as one, and the second one's copies would not be sent.
    package var milterName: String? {
        guard hasMessageID else { return nil }
        let text = ([sender] + recipients.map(\.address)).joined(separator: "\n")
        guard let digest = try? DigestAlgorithm.sha256.digest(Array(text.utf8)) else { return nil }
        return "\(clientName)\(Self.milterMark)\(digest.hexadecimal)"
    }

    private static let milterMark = "/milter "

    /// How long a record for a message counts that came through a milter, in seconds; nil for a name from elsewhere.
    ///
    /// The name may come again with another message: a service that was killed between its verdict and the end of the record would else
    /// keep the copies of that one back. Mail servers try again within this time (Postfix's `maximal_backoff_time` is 4,000 s).
    package static func milterMemory(of name: String) -> Double? { name.contains(milterMark) ? 4_200 : nil }
}

extension SMTPReply {
    /// The reply of a milter. With 421 the mail server would end its client's connection.
    package var milterRefusal: MilterRefusal {
        let code = isSuccess ? 451 : passedOn.code
        let status = enhancedCode.map { "\($0)" } ?? "\(code / 100).0.0"
        return MilterRefusal(code: code, status: status, text: text) ?? .undetermined
    }
}

extension MilterEditError {
    /// What the sender hears of it.
    var reply: SMTPReply {
        switch self {
        case .fieldTooLong, .headerTooLarge, .malformedHeader: SMTPReply(554, "5.6.0", text: description)
        case .actionNotOffered, .noSuchRecipient, .notWaiting: SMTPReply(451, "4.3.5", text: description)
        }
    }
}

extension MessageFlow.Placement {
    /// Nothing was sent.
    static func failed(_ reply: SMTPReply, _ reason: String) -> Self { Self(failure: reply, reason: reason) }
}
