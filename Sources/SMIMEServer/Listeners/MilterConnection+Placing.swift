import NIOCore
import SMIMEGateway

/// Decides which form replaces the message in the mail server and which forms go to the next hop.
extension MilterConnection {
    /// Sends all forms except one to the next hop. The remaining form replaces the message in the mail server.
    func place(_ delivery: MessageFlow.PendingDelivery) {
        let place = Self.stayingForm(of: delivery.forms, sender: envelope.sender.address)
        let form = delivery.forms[place]
        var others = delivery.forms
        others.remove(at: place)
        guard !others.isEmpty else { return send(form, delivery, placement: MessageFlow.Placement()) }
        // This checks whether the mail server allows the changes before copies are sent.
        if let failure = failure(of: form, delivery) { return delivery.done(failure) }
        guard let hop = settings.nextHop else {
            let reply = SMTPReply(451, "4.3.5", text: "the gateway cannot send the recipients different messages")
            return delivery.done(.failed(reply, "--next-hop \(role.rawValue)=smtp:ADDRESS is needed for it"))
        }
        let generation = generation
        let copies = MessageFlow.PendingDelivery(forms: others, slot: delivery.slot, record: delivery.record) {
            [self] placement in
            guard placement.failure == nil else { return delivery.done(placement) }
            // The mail server may stop before it receives the verdict and then send the message again.
            delivery.record(placement.served) { [self] in
                guard generation == self.generation, flow != nil else {
                    var failed = placement
                    failed.failure = .undetermined
                    return delivery.done(failed)
                }
                send(form, delivery, placement: placement)
            }
        }
        hop.deliver(copies)
    }

    /// The index of the form that replaces the message: the form for the most recipients among those with the same sender.
    private static func stayingForm(of forms: [MessageFlow.MessageForm], sender: String) -> Int {
        let places = forms.indices.filter { forms[$0].envelope.sender == sender }
        return (places.isEmpty ? Array(forms.indices) : places)
            .max { forms[$0].envelope.recipients.count < forms[$1].envelope.recipients.count } ?? 0
    }

    /// The failure to report if `form` cannot replace the message; nil if it can.
    private func failure(
        of form: MessageFlow.MessageForm,
        _ delivery: MessageFlow.PendingDelivery
    ) -> MessageFlow.Placement? {
        do {
            var trial = session
            _ = try trial.finish(try InPlaceSender(form, delivery.slot, over: channel).verdict(for: envelope))
            return nil
        } catch let error as MilterEditError {
            return .failed(error.reply, "\(error)")
        } catch {
            return .failed(.undetermined, "\(error)")
        }
    }

    private func send(
        _ form: MessageFlow.MessageForm,
        _ delivery: MessageFlow.PendingDelivery,
        placement: MessageFlow.Placement
    ) {
        var failed = placement
        guard !isOver else {
            failed.failure = .undetermined
            return delivery.done(failed)
        }
        do {
            let sender = try InPlaceSender(form, delivery.slot, over: channel)
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
                        (failed.failure, failed.reason) = (.undetermined, failure)
                        // Pieces of the body that were sent cannot be withdrawn, so the connection is closed.
                        close()
                        return delivery.done(failed)
                    }
                    channel.writeAndFlush(session.finishBody(), promise: nil)
                    delivery.done(placement)
                }
            )
        } catch let error as MilterEditError {
            failed.failure = error.reply
            failed.reason = "\(error)"
            delivery.done(failed)
        } catch {
            (failed.failure, failed.reason) = (.undetermined, "\(error)")
            delivery.done(failed)
        }
    }
}
