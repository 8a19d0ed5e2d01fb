import ByteStreams
import LibCrypto
package import NIOCore
package import SMIMEGateway
import SMIMEStore

/// One message on its way through the service: a slot, a worker, the next hop, and the reply.
///
/// The mail server gets a positive reply only after the next hop has accepted all copies. Through a milter, one of them
/// replaces the message in the mail server, and the next hop gets the others. Everything here runs on the event loop.
package final class MessageFlow {
    /// A finished copy of a message, for some of its recipients. Other recipients may get a copy with other protection.
    package struct MessageCopy {
        let envelope: SMTPEnvelope
        /// Whether the content contains a byte above 127.
        let isEightBit: Bool
        let content: WorkerContent
    }

    /// The result of sending the copies.
    package struct DeliveryResult {
        /// The recipients whose copy the next hop accepted.
        package var served: [String] = []
        /// The next hop's queue ids of the messages.
        var names: [String] = []
        /// The next hop's replies to the messages, for the log.
        var replies: [String] = []
        /// The reply for the mail server if a copy was not accepted; nil if all were.
        var failure: SMTPReply?
        /// The reason for the failure, for the log; nil if the reply says everything.
        var reason: String?
        /// Whether the milter failed, and not the next hop. Then the reason says everything.
        var isMilterFailure = false
        /// Whether the connection ended after the content was sent and before the reply, so that the next hop may have the
        /// message (RFC 1047).
        var isUnknown = false

        package init(served: [String] = [], failure: SMTPReply? = nil, reason: String? = nil) {
            (self.served, self.failure, self.reason) = (served, failure, reason)
        }

        /// The text of the reply if all copies were accepted. The log has all queue ids.
        var acceptance: String {
            guard let first = names.first else { return "sent" }
            let all = names.joined(separator: ", ")
            return all.utf8.count <= 150 ? "sent as \(all)" : "sent as \(first) and \(names.count - 1) more"
        }

        /// The failure for the log; nil if there is none.
        var error: String? {
            guard let failure else { return nil }
            if isMilterFailure { return reason ?? "\(failure)" }
            return "next hop: \(failure)" + (reason.map { ": \($0)" } ?? "")
        }
    }

    /// All copies of one message, to be sent to the next hop or to replace the message.
    package struct PendingDelivery {
        var copies: [MessageCopy]
        /// The slot that contains spooled copies.
        let slot: MessageSlot
        /// Records that the recipients `served` have their copy, and calls `then`. If the service stops before all copies are
        /// sent, the next attempt sends the message only to the other recipients.
        let record: (_ served: [String], _ then: @escaping () -> Void) -> Void
        /// Reports the result for all copies.
        package let done: (DeliveryResult) -> Void
    }

    /// Sends the copies.
    package typealias Deliver = (PendingDelivery) -> Void

    let core: GatewayCore
    let role: GatewayRole
    let number: UInt64
    let deliver: Deliver
    let journalName: (SMTPEnvelope) -> String?
    let forgetsConfirmed: Bool
    var slot: MessageSlot?
    private var ticket: UInt64?
    private var admissionLimit: Scheduled<Void>?
    var envelope = SMTPEnvelope(sender: "")
    var spoolFailure: StreamError?
    var log: MessageLog
    var completion: ((SMTPReply) -> Void)?
    /// Whether a worker crashed while handling this message, or computed too long for it, or was the second that was
    /// ended.
    var hasDied = false
    /// Whether another process or the kernel ended a worker that was handling this message.
    var wasInterrupted = false
    var worker: Worker?
    /// The message's entry in the journal; nil if it has none.
    var entry: DeliveryJournal.Entry?
    var learns = false
    /// Whether the journal contains recipients of this message, from this attempt or an earlier one.
    var isInJournal = false
    /// Whether all copies were accepted.
    var isAccepted = false
    /// The name that this message claims, so that no other message with the name is handled; nil before and after
    /// handling, and for a message without a name in the journal.
    var claim: String?
    /// The name in the journal that this message waits to claim; nil if it does not wait.
    var awaitedClaim: String?
    /// Whether the work after the reply has begun. The claim ends with this work.
    var isConcluded = false
    /// Computes a digest of the content, if several messages may have the same name in the journal; nil otherwise.
    private var digester: Digester?
    var replyLimit: Scheduled<Void>?
    /// Whether the mail server was told to try again while a worker or the next hop was still working on the message.
    var isLate = false
    var received = NIODeadline.distantPast
    /// The time at which a worker got the message; nil while no worker has it.
    var begun: NIODeadline?
    /// The time for which workers had the message, in all attempts together.
    var handled = TimeAmount.zero

    /// - Parameters:
    ///   - journalName: returns the message's name in the journal; nil if it has none.
    ///   - forgetsConfirmed: whether another message may have the same name, so that the journal forgets the name when the
    ///     mail server has received the reply.
    ///   - deliver: sends the copies, usually to the next hop.
    package init(
        _ core: GatewayCore,
        role: GatewayRole,
        journalName: @escaping (SMTPEnvelope) -> String? = { $0.queueName },
        forgetsConfirmed: Bool = false,
        deliver: @escaping Deliver
    ) {
        self.core = core
        self.role = role
        self.deliver = deliver
        self.journalName = journalName
        self.forgetsConfirmed = forgetsConfirmed
        if forgetsConfirmed { digester = try? Digester(.sha256) }
        number = core.nextNumber()
        log = MessageLog(role: role)
    }

    /// Requests a slot for a message. `answer` is called with nil when the message has a slot; otherwise with the reply that
    /// refuses the message.
    package func begin(_ envelope: SMTPEnvelope, _ answer: @escaping (SMTPReply?) -> Void) {
        if let failure = core.pool.failure {
            core.metrics.storeErrors += 1
            core.noteEarlyReply(envelope, role: role, .deferred, reason: "the store cannot be used: \(failure.reason)")
            return answer(SMTPReply(451, "4.3.0", text: "the gateway cannot work now"))
        }
        guard !core.isStopping else {
            core.noteEarlyReply(envelope, role: role, .deferred, reason: "the gateway is stopping")
            return answer(SMTPReply(421, "4.3.2", text: "the gateway is stopping"))
        }
        self.envelope = envelope
        ticket = core.slots.acquire { [self] slot in
            admissionLimit?.cancel()
            (self.slot, ticket) = (slot, nil)
            answer(nil)
        }
        guard ticket != nil else { return }
        admissionLimit = core.loop.assumeIsolated().scheduleTask(in: core.settings.admissionTime) { [self] in
            guard let ticket else { return }
            core.slots.withdraw(ticket)
            self.ticket = nil
            core.noteEarlyReply(envelope, role: role, .deferred, reason: "too many messages at a time (--max-messages)")
            answer(SMTPReply(451, "4.3.2", text: "the gateway has too many messages"))
        }
    }

    /// Replaces the envelope, before `finish`: at the end of a message the mail server may have reported more about it.
    func update(_ envelope: SMTPEnvelope) { self.envelope = envelope }

    /// Appends bytes to the message. If they cannot be written, for example because the disk is full, the reply at the end of
    /// the message is 452.
    package func append(_ bytes: ByteBuffer) {
        guard spoolFailure == nil else { return }
        try? digester?.update(bytes.readableBytesSpan.octets)
        do throws(StreamError) { try slot?.append(bytes) } catch { spoolFailure = error }
    }

    /// Handles the message and calls `completion` with the reply for all its recipients.
    package func finish(_ completion: @escaping (SMTPReply) -> Void) {
        self.completion = completion
        received = .now()
        log.describe(envelope)
        replyLimit = core.loop.assumeIsolated().scheduleTask(in: core.settings.replyTime) { [self] in becomeLate() }
        guard let name = claimName() else { return submit(rescuedFrom: nil) }
        // This limit is only for a milter, because there the SMTP client determines the name. Half of the slots stay for
        // other messages.
        guard !forgetsConfirmed || !core.claims.isCrowded(name, limit: core.slots.count / 2) else {
            log.fail("other copies of the message are waiting")
            return end(.late)
        }
        awaitedClaim = name
        core.claims.acquire(name, for: number) { [self] in
            (claim, awaitedClaim) = (name, nil)
            submit(rescuedFrom: nil)
        }
    }

    /// Drops a message that the mail server withdrew or did not complete.
    ///
    /// A message that is already being handled is not dropped, because a worker or the next hop may still read its slot.
    package func abandon() {
        if awaitedClaim != nil { completion = nil }
        deferIfWaiting()
        if completion == nil, !isLate { release() }
    }

    /// Defers a message that waits for an earlier attempt, because the client has gone.
    func deferIfWaiting() {
        guard let awaitedClaim else { return }
        core.claims.withdraw(awaitedClaim, for: number)
        self.awaitedClaim = nil
        log.fail("the client left before an earlier attempt had ended")
        end(.late)
    }

    /// The name by which a second attempt to send the message is recognized; nil if the message has no name in the journal.
    private func claimName() -> String? {
        guard let name = journalName(envelope) else { return nil }
        let digest = try? digester?.finish().hexadecimal
        return [role.rawValue, name, digest ?? ""].joined(separator: " ")
    }

    private func release() {
        admissionLimit?.cancel()
        replyLimit?.cancel()
        if let ticket { core.slots.withdraw(ticket) }
        ticket = nil
        if let slot { core.slots.release(slot) }
        slot = nil
    }

    /// Ends the message and sends `reply`, unless the mail server already got a reply.
    func end(_ reply: SMTPReply) {
        release()
        // The mail server was told to try a late message again, so it counts as deferred, unless it was accepted.
        let reply = isLate && !reply.isSuccess ? .late : reply
        let result: ServerMetrics.Result = reply.isSuccess ? .accepted : reply.isTemporary ? .deferred : .refused
        let elapsed = NIODeadline.now() - received
        core.metrics.count(role, result, seconds: elapsed.seconds, handled: handled.seconds)
        log.elapsed = elapsed
        core.write(log, status: result)
        if isLate { return conclude(isDelivered: false) }
        let completion = completion
        self.completion = nil
        completion?(reply)
    }
}

extension TimeAmount {
    /// The time in seconds.
    var seconds: Double { Double(nanoseconds) / 1e9 }
}
