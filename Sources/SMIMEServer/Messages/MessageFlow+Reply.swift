import NIOCore
import SMIMEGateway

/// The time limit for the reply to the mail server, and the work after the reply.
extension MessageFlow {
    /// Tells the flow whether the mail server received the reply. A mail server that did not receive the reply to an accepted
    /// message will try again, and no recipient may get the message twice.
    package func confirm(_ isDelivered: Bool) {
        // A late message is concluded when its handling ends.
        if !isLate { conclude(isDelivered: isDelivered) }
    }

    /// Tells the flow that the reply to an accepted message was written, but possibly not read yet. If another attempt comes
    /// before it is confirmed, the reply was not read.
    package func noteReplyWritten() {
        guard !isLate, let claim else { return }
        core.claims.whenAwaited(claim) { [self] in conclude(isDelivered: false) }
    }

    /// Tells the flow that the reply is being sent in pieces, so that its time limit no longer applies.
    func beginReply() { replyLimit?.cancel() }

    /// Sends a temporary failure before the mail server itself gives up.
    ///
    /// A worker or the next hop that already has the message continues. If the message has a name in the journal, the
    /// result is recorded, and the next attempt waits for the result. Otherwise copies that a worker finishes later are
    /// not sent.
    func becomeLate() {
        guard let completion else { return }
        let reason = "no reply after \(core.settings.replyTime.nanoseconds / 1_000_000_000) s"
        if let awaitedClaim {
            core.claims.withdraw(awaitedClaim, for: number)
            self.awaitedClaim = nil
            log.fail("\(reason): an earlier attempt has not ended")
            return end(.late)
        }
        if core.pool.withdraw(number) {
            log.fail("\(reason): no worker was free")
            return end(.late)
        }
        isLate = true
        log.warnings.append("\(reason): the mail server was told to try again")
        self.completion = nil
        completion(.late)
    }

    /// Does the work that remains when it is known whether the mail server received the reply, and then lets the next attempt
    /// begin. Only the first call counts.
    func conclude(isDelivered: Bool) {
        guard !isConcluded else { return }
        isConcluded = true
        guard let worker else { return releaseClaim() }
        self.worker = nil
        defer { worker.release() }
        guard isAccepted else { return releaseClaim() }
        if !isDelivered { core.metrics.unconfirmed += 1 }
        let settlement = WorkerSettlement(
            number: number,
            entry: entry,
            served: isDelivered ? [] : log.served,
            learns: learns,
            forgets: forgetsConfirmed && isDelivered && isInJournal
        )
        guard settlement.learns || settlement.changesJournal else { return releaseClaim() }
        core.pool.settle(settlement, by: worker) { [self] isDone in
            if !isDone, let entry = settlement.entry, settlement.changesJournal {
                core.metrics.storeErrors += 1
                let consequence = settlement.forgets ? "may not get it" : "may get it twice"
                let text = "the journal is not updated: if the message arrives again, some recipients \(consequence)"
                core.warn("\(entry.queueID): \(text)")
            }
            releaseClaim()
        }
    }

    private func releaseClaim() {
        guard let claim else { return }
        self.claim = nil
        core.claims.release(claim)
    }
}

extension SMTPReply {
    /// The reply for a message that took too long.
    static let late = SMTPReply(451, "4.3.2", text: "the gateway needs more time for the message; try again later")
}

/// Observes whether the mail server has read the reply to a message.
///
/// If the connection ends right after the reply, without a further byte, the mail server stopped before it could act on the
/// reply, and it or its client will send the message again. After QUIT, only a reset shows this.
final class ReplyConfirmation {
    /// If the connection is open for this time after the reply, the reply counts as read. Postfix keeps idle connections open
    /// longer: it closes them without a command after 2 seconds (`lmtp_connection_cache_time_limit`).
    private static let time = TimeAmount.seconds(1)

    private var flow: MessageFlow?
    private var timer: DeadlineTimer?

    init(on loop: any EventLoop) {
        timer = DeadlineTimer(on: loop) { [weak self] in self?.note(isRead: true) }
    }

    /// Whether a reply is being observed.
    var isPending: Bool { flow != nil }

    /// Lets only the end of the connection show whether the last reply was read, and not the time.
    func awaitEnd() { timer?.disarm() }

    /// Begins to observe the reply to the message of `flow`, which was just written.
    ///
    /// A client that pipelines messages sends nothing between two replies, so the earlier reply counts as read.
    func begin(_ flow: MessageFlow) {
        note(isRead: true)
        timer?.set(Self.time)
        self.flow = flow
    }

    /// Records whether the mail server has read the last reply. Bytes that it sent together with the message do not show
    /// this.
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
