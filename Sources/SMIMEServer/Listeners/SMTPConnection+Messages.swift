import NIOCore
import SMIMEGateway

/// The messages of a connection, and what its client knows of their replies.
extension SMTPConnection {
    /// How soon after the reply to a message a connection that ends without a command shows that the client was killed before it read
    /// that. Postfix closes connections that it kept without a command, after 2 seconds (`lmtp_connection_cache_time_limit`).
    private static let confirmationTime = TimeAmount.seconds(1)

    func begin(_ envelope: SMTPEnvelope) {
        let flow = MessageFlow(core, role: role, place: place)
        self.flow = flow
        recipientCount = envelope.recipients.count
        flow.begin(envelope) { [self] refusal in
            if let refusal {
                self.flow = nil
                session.refuse(refusal)
            } else {
                (contentStart, contentSize) = (.now, 0)
                session.accept()
            }
            work()
        }
    }

    func finish() {
        guard let flow else { return session.finish([]) }
        contentStart = nil
        flow.finish { [self] reply in
            endMessage()
            session.finish(Array(repeating: reply, count: max(recipientCount, 1)))
            confirm(flow)
            work()
        }
    }

    /// Lets the flow know whether its reply could be sent.
    private func confirm(_ flow: MessageFlow) {
        guard !clientIsGone, channel.isActive else { return flow.confirm(false) }
        var last: EventLoopFuture<Void>?
        while let event = session.next() {
            guard case .reply(let bytes) = event else {
                handle(event)
                continue
            }
            last = channel.writeAndFlush(bytes)
        }
        guard let last else { return flow.confirm(false) }
        last.assumeIsolated().whenComplete { [self] result in
            guard case .success = result, !clientIsGone else { return flow.confirm(false) }
            guard flow.isTaken, !isOver else { return flow.confirm(true) }
            flow.noteReplyWritten()
            // A client that sends messages one behind the other has said nothing between them.
            noteReply(isRead: true)
            confirmationTimer?.set(Self.confirmationTime)
            replied = flow
        }
    }

    /// The client has read the last reply, or was killed before. What it sent together with the message shows neither.
    func noteReply(isRead: Bool) {
        guard let flow = replied else { return }
        replied = nil
        confirmationTimer?.disarm()
        flow.confirm(isRead)
    }
}
