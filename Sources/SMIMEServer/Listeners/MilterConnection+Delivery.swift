import ByteStreams
import LibCrypto
import NIOCore
import SMIMEGateway

/// Decides which copy replaces the message in the mail server and which copies go to the next hop.
extension MilterConnection {
    /// Sends all copies except one to the next hop. The remaining copy replaces the message in the mail server.
    func deliver(_ delivery: MessageFlow.PendingDelivery) {
        let index = Self.indexOfReplacement(in: delivery.copies, sender: envelope.sender.address)
        let copy = delivery.copies[index]
        var others = delivery.copies
        others.remove(at: index)
        guard !others.isEmpty else { return send(copy, delivery, result: MessageFlow.DeliveryResult()) }
        // Before any copy is sent, this checks whether the mail server allows the changes.
        if let failure = failure(of: copy, delivery) { return delivery.done(failure) }
        guard let hop = settings.nextHop else {
            let reply = SMTPReply(451, "4.3.5", text: "the gateway cannot send the recipients different messages")
            let reason = "the recipients get different messages, which needs --next-hop \(role.rawValue)=smtp:ADDRESS"
            return delivery.done(.failed(reply, reason))
        }
        let generation = generation
        let sent = MessageFlow.PendingDelivery(copies: others, slot: delivery.slot, record: delivery.record) {
            [self] result in
            guard result.failure == nil else { return delivery.done(result) }
            // The mail server may stop before it receives the verdict and then send the message again.
            delivery.record(result.served) { [self] in
                guard generation == self.generation, flow != nil else {
                    return delivery.done(result.failing(.undetermined, "the mail server has abandoned the message"))
                }
                send(copy, delivery, result: result)
            }
        }
        hop.deliver(sent)
    }

    /// The index of the copy that replaces the message: the copy for the most recipients among those with the envelope sender
    /// `sender`, or among all copies if none has it.
    private static func indexOfReplacement(in copies: [MessageFlow.MessageCopy], sender: String) -> Int {
        let places = copies.indices.filter { copies[$0].envelope.sender == sender }
        return (places.isEmpty ? Array(copies.indices) : places)
            .max { copies[$0].envelope.recipients.count < copies[$1].envelope.recipients.count } ?? 0
    }

    /// The failure to report if `copy` cannot replace the message; nil if it can.
    private func failure(
        of copy: MessageFlow.MessageCopy,
        _ delivery: MessageFlow.PendingDelivery
    ) -> MessageFlow.DeliveryResult? {
        do {
            var trial = session
            _ = try trial.finish(try InPlaceSender(copy, delivery.slot, over: channel).verdict(for: envelope))
            return nil
        } catch let error as MilterEditError {
            return .failed(error.reply, "\(error)")
        } catch {
            return .failed(.undetermined, "\(error)")
        }
    }

    private func send(
        _ copy: MessageFlow.MessageCopy,
        _ delivery: MessageFlow.PendingDelivery,
        result: MessageFlow.DeliveryResult
    ) {
        guard !isOver else {
            return delivery.done(result.failing(.undetermined, "the mail server has closed the connection"))
        }
        do {
            let sender = try InPlaceSender(copy, delivery.slot, over: channel)
            let first = try session.finish(sender.verdict(for: envelope))
            flow?.beginReply()
            channel.write(first, promise: nil)
            self.sender = sender
            timer?.set(Self.messageTime)
            sender.run(
                write: { [self] in
                    timer?.set(Self.messageTime)
                    channel.writeAndFlush(session.replaceBody($0), promise: nil)
                },
                end: { [self] failure in
                    if let failure {
                        // Pieces of the body that were sent cannot be withdrawn, so the connection is closed.
                        close()
                        return delivery.done(result.failing(.undetermined, failure))
                    }
                    channel.writeAndFlush(session.finishBody(), promise: nil)
                    delivery.done(result)
                }
            )
        } catch let error as MilterEditError {
            delivery.done(result.failing(error.reply, "\(error)"))
        } catch {
            delivery.done(result.failing(.undetermined, "\(error)"))
        }
    }
}

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
        case .recipientNotRemovable: SMTPReply(553, "5.1.3", text: description)
        case .actionNotOffered, .noSuchRecipient, .notWaiting: SMTPReply(451, "4.3.5", text: description)
        }
    }
}

extension MessageFlow.DeliveryResult {
    /// A failure before any copy was sent.
    static func failed(_ reply: SMTPReply, _ reason: String) -> Self { Self().failing(reply, reason) }

    /// This result, with a failure of the milter: the message in the mail server is not replaced.
    func failing(_ reply: SMTPReply, _ reason: String) -> Self {
        var failed = self
        (failed.failure, failed.reason, failed.isMilterFailure) = (reply, reason, true)
        return failed
    }
}
