import NIOCore

/// Observes whether the mail server has read the reply to a message.
///
/// If the connection ends right after the reply, without a further byte, the mail server stopped before it could act on the
/// reply, and it or its client will send the message again.
final class ReplyConfirmation {
    /// The time after which the end of the connection proves nothing. Postfix keeps idle connections open longer: it closes
    /// them without a command after 2 seconds (`lmtp_connection_cache_time_limit`).
    private static let time = TimeAmount.seconds(1)

    private var flow: MessageFlow?
    private var timer: DeadlineTimer?

    init(on loop: any EventLoop) {
        timer = DeadlineTimer(on: loop) { [weak self] in self?.note(isRead: true) }
    }

    /// Begins to observe the reply to the message of `flow`, which was just written.
    ///
    /// A client that pipelines messages sends nothing between two replies, so the earlier reply counts as read.
    func begin(_ flow: MessageFlow) {
        note(isRead: true)
        timer?.set(Self.time)
        self.flow = flow
    }

    /// Records that the mail server has read the last reply, or stopped before. Bytes that it sent together with the message
    /// prove neither.
    func note(isRead: Bool) {
        guard let flow else { return }
        self.flow = nil
        timer?.disarm()
        flow.confirm(isRead)
    }

    /// Ends the observation, because the connection has ended.
    func cancel() {
        note(isRead: false)
        timer?.cancel()
    }
}
