import NIOCore
import SMIMEGateway

/// When the mail server gets its reply, and what is left to do after it.
extension MessageFlow {
    /// Says whether the mail server has the reply to a message that was taken. If it has not, it will try again, and must not send
    /// twice.
    package func confirm(_ isDelivered: Bool) {
        // Its end is still to come.
        if !isLate { conclude(isDelivered: isDelivered) }
    }

    /// The reply to a message that was taken is written, and may still be read. Another attempt that waits shows that it was not.
    package func noteReplyWritten() {
        guard !isLate else { return }
        if claim.map(core.claims.isAwaited) == true { conclude(isDelivered: false) } else { releaseClaim() }
    }

    /// The reply is being sent in pieces: from now on it cannot be late.
    func beginReply() { replyLimit?.cancel() }

    /// Answers before the mail server gives up by itself.
    ///
    /// What a worker or the next hop has goes on to its end, and is recorded; another attempt waits for it.
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

    /// Does what is left to do when the mail server's reply is known, and lets the next attempt begin.
    func conclude(isDelivered: Bool) {
        guard let worker else { return releaseClaim() }
        self.worker = nil
        defer { worker.release() }
        guard isTaken else { return releaseClaim() }
        if !isDelivered { core.metrics.unconfirmed += 1 }
        let forgets = forgetsConfirmed && isDelivered && isInJournal
        guard learns || !isDelivered || forgets else { return releaseClaim() }
        worker.settle(number, served: isDelivered ? [] : log.served, learns: learns, forgets: forgets) { [self] _ in
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
    /// The reply when a message took too long.
    static let late = SMTPReply(451, "4.3.2", text: "the gateway needs more time for the message; try again later")
}
