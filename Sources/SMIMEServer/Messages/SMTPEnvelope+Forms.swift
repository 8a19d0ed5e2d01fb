extension SMTPEnvelope {
    /// How the journal knows the message: the mail server's name and its queue id, which XFORWARD brings; nil without one.
    var queueName: String? {
        identifier.map { "\(clientName)/\($0)" }
    }

    /// The mail server's queue id; nil if it gave none.
    var identifier: String? {
        guard let identifier = xforward[.identifier], !identifier.isEmpty, identifier != "[UNAVAILABLE]" else {
            return nil
        }
        return identifier
    }

    /// The envelope of one form: some of the recipients, each with the parameters it came with, and the form's sender.
    func narrowed(to form: WorkerMessageForm) -> SMTPEnvelope {
        var narrowed = self
        narrowed.sender = form.sender
        let wanted = Set(form.recipients)
        narrowed.recipients = recipients.filter { wanted.contains($0.address) }
        return narrowed
    }
}

extension WorkerRefusal {
    /// The reply to the mail server.
    var reply: SMTPReply {
        SMTPReply(code, EnhancedStatusCode(enhancedCode), text: sentence)
    }
}
