import NIOCore
import SMIMEGateway

/// The time limit for the reply to the mail server, and the work after the reply.
extension MessageFlow {
    /// Tells the flow whether the mail server received the reply to an accepted message. If it did not, it will try again,
    /// and no recipient may get the message twice.
    package func confirm(_ isDelivered: Bool) {
        // A late message is concluded when its handling ends.
        if !isLate { conclude(isDelivered: isDelivered) }
    }

    /// Tells the flow that the reply to an accepted message was written, but possibly not read yet. If another attempt
    /// already waits, the reply was not read.
    package func noteReplyWritten() {
        guard !isLate else { return }
        if claim.map(core.claims.isAwaited) == true { conclude(isDelivered: false) } else { releaseClaim() }
    }

    /// Tells the flow that the reply is being sent in pieces, so that its time limit no longer applies.
    func beginReply() { replyLimit?.cancel() }

    /// Sends a temporary failure before the mail server itself gives up.
    ///
    /// A worker or the next hop that already has the message continues, and the result is recorded. Another attempt waits for
    /// that.
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
    /// begin.
    func conclude(isDelivered: Bool) {
        guard let worker else { return releaseClaim() }
        self.worker = nil
        defer { worker.release() }
        guard isTaken else { return releaseClaim() }
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
                core.warn("\(entry.queueID): not recorded: another attempt may send some of it twice")
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
