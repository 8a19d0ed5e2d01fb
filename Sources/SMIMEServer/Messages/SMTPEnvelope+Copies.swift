extension SMTPEnvelope {
    /// The message's name in the journal: the mail server's name and its queue id, as reported with XFORWARD; nil if they
    /// were not reported.
    var queueName: String? {
        identifier.map { "\(clientName)/\($0)" }
    }

    /// The mail server's queue id; nil if it was not reported.
    var identifier: String? {
        guard let identifier = xforward[.identifier], !identifier.isEmpty, identifier != "[UNAVAILABLE]" else {
            return nil
        }
        return identifier
    }

    /// The envelope of one copy of the message: its sender and recipients, with the parameters that the client gave for
    /// them.
    func narrowed(to copy: WorkerMessageCopy) -> SMTPEnvelope {
        var narrowed = self
        narrowed.sender = copy.sender
        let wanted = Set(copy.recipients)
        narrowed.recipients = recipients.filter { wanted.contains($0.address) }
        return narrowed
    }
}

extension WorkerRefusal {
    /// The refusal as a reply to the mail server.
    var reply: SMTPReply {
        SMTPReply(code, EnhancedStatusCode(enhancedCode), text: sentence)
    }
}
