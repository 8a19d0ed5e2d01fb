import NIOCore
import SMIMEGateway

/// The messages of a connection, and whether the client has read the replies to them.
extension SMTPConnection {
    func begin(_ envelope: SMTPEnvelope) {
        let flow = MessageFlow(core, role: role, deliver: deliver)
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
        guard let flow else { return session.finishMessage(with: []) }
        contentStart = nil
        flow.finish { [self] reply in
            endMessage()
            session.finishMessage(with: Array(repeating: reply, count: max(recipientCount, 1)))
            confirm(flow)
            work()
        }
    }

    /// Tells the flow whether its reply could be sent, and lets `confirmation` observe whether it is read.
    ///
    /// Postfix sends QUIT together with the message, so QUIT does not show that the reply was read. The reply to QUIT waits
    /// until the client has closed the connection, or for `quitTime`. If the client ended without reading the reply to the
    /// message, the client's host resets the connection (RFC 1122 §4.2.2.13).
    private func confirm(_ flow: MessageFlow) {
        guard !clientIsGone, channel.isActive else { return flow.confirm(false) }
        if flow.isAccepted { holdQuit() }
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
            guard flow.isAccepted else { return flow.confirm(true) }
            flow.noteReplyWritten()
            confirmation?.begin(flow)
            if isOver { confirmation?.awaitEnd() }
        }
    }
}
