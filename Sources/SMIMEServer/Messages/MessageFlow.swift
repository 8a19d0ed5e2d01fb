import ByteStreams
import LibCrypto
package import NIOCore
package import SMIMEGateway

/// One message on its way through the service: its place, a worker, the next hop, and the reply.
///
/// The mail server hears of success only when everything is the next hop's. Everything here happens on the event loop.
package final class MessageFlow {
    /// A finished message that goes somewhere.
    package struct MessageForm {
        let envelope: SMTPEnvelope
        /// Whether a byte above 127 is in it.
        let isEightBit: Bool
        let content: WorkerContent
    }

    /// What became of the forms.
    package struct Placement {
        /// The recipients whose form was taken.
        package var served: [String] = []
        /// The next hop's names for the messages.
        var names: [String] = []
        /// The next hop's replies to the messages, for the log.
        var replies: [String] = []
        /// Nil if all forms were taken.
        var failure: SMTPReply?
        /// For the log: why the connection failed.
        var reason: String?

        package init(served: [String] = [], failure: SMTPReply? = nil, reason: String? = nil) {
            (self.served, self.failure, self.reason) = (served, failure, reason)
        }
    }

    /// The forms of one message, on their way to wherever they go.
    package struct Parcel {
        var forms: [MessageForm]
        /// Where spooled forms are.
        let slot: MessageSlot
        /// Records that these recipients have their form, and calls `then`. If the service is killed before all forms are sent, the
        /// next attempt reaches the others alone.
        let record: (_ served: [String], _ then: @escaping () -> Void) -> Void
        /// Says what became of all forms.
        package let done: (Placement) -> Void
    }

    /// Gives the forms away.
    package typealias Place = (Parcel) -> Void

    let core: GatewayCore
    let role: GatewayRole
    let number: UInt64
    let place: Place
    let journalName: (SMTPEnvelope) -> String?
    let forgetsConfirmed: Bool
    var slot: MessageSlot?
    private var ticket: UInt64?
    private var admissionLimit: Scheduled<Void>?
    var envelope = SMTPEnvelope(sender: "")
    var spoolFailure: StreamError?
    var log: MessageLog
    var completion: ((SMTPReply) -> Void)?
    var hasDied = false
    var worker: Worker?
    var learns = false
    /// Whether the journal has recipients of this message, from this attempt or an earlier one.
    var isInJournal = false
    /// Whether all forms are with the next hop.
    var isTaken = false
    /// The name that no other message has while this one is handled; nil before, and after.
    var claim: String?
    /// The name that this message waits for.
    var awaitedClaim: String?
    /// Digests the content where the journal's name alone may belong to several messages.
    private var digester: Digester?
    var replyLimit: Scheduled<Void>?
    /// Whether the mail server was told to try again while a worker or the next hop was still at the message.
    var isLate = false
    var received = NIODeadline.distantPast
    var submitted = NIODeadline.distantPast
    var handled = TimeAmount.zero

    /// - Parameters:
    ///   - journalName: how the journal knows the message; nil if it cannot.
    ///   - forgetsConfirmed: whether the same name may come again for another message, once the mail server knows that this one was taken.
    ///   - place: what is done with the forms: usually the next hop gets them.
    package init(
        _ core: GatewayCore,
        role: GatewayRole,
        journalName: @escaping (SMTPEnvelope) -> String? = { $0.queueName },
        forgetsConfirmed: Bool = false,
        place: @escaping Place
    ) {
        self.core = core
        self.role = role
        self.place = place
        self.journalName = journalName
        self.forgetsConfirmed = forgetsConfirmed
        if forgetsConfirmed { digester = try? Digester(.sha256) }
        number = core.nextNumber()
        log = MessageLog(role: role)
    }

    /// Asks for a place for a message; `answer` gets nil when there is one, else the reply that refuses the message.
    package func begin(_ envelope: SMTPEnvelope, _ answer: @escaping (SMTPReply?) -> Void) {
        if let trouble = core.pool.trouble {
            core.metrics.storeErrors += 1
            log.fail("the store cannot be used: \(trouble.reason)")
            postpone(envelope)
            return answer(SMTPReply(451, "4.3.0", text: "the gateway cannot work now"))
        }
        guard !core.isStopping else {
            log.fail("the gateway is stopping")
            postpone(envelope)
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
            log.fail("too many messages at a time (--max-messages)")
            postpone(envelope)
            answer(SMTPReply(451, "4.3.2", text: "the gateway has too many messages"))
        }
    }

    /// Counts and logs a message that gets no place.
    private func postpone(_ envelope: SMTPEnvelope) {
        core.metrics.countUnread(role, .deferred)
        log.describe(envelope)
        core.write(log, status: .deferred)
    }

    /// Replaces the envelope, of which more is known at the end of the message; called before `finish`.
    func update(_ envelope: SMTPEnvelope) { self.envelope = envelope }

    /// Adds bytes of the message. A disk that is full is told when the message ends.
    package func append(_ bytes: ByteBuffer) {
        guard spoolFailure == nil else { return }
        try? digester?.update(bytes.readableBytesSpan.octets)
        do throws(StreamError) { try slot?.append(bytes) } catch { spoolFailure = error }
    }

    /// Handles the message; `completion` gets the reply for all its recipients.
    package func finish(_ completion: @escaping (SMTPReply) -> Void) {
        self.completion = completion
        received = .now()
        log.describe(envelope)
        replyLimit = core.loop.assumeIsolated().scheduleTask(in: core.settings.replyTime) { [self] in becomeLate() }
        guard let name = claimName() else { return submit(rescuedFrom: nil) }
        awaitedClaim = name
        core.claims.acquire(name, for: number) { [self] in
            (claim, awaitedClaim) = (name, nil)
            submit(rescuedFrom: nil)
        }
    }

    /// Forgets the message, which the mail server took back or did not finish.
    ///
    /// One that is being handled already ends by itself: a worker or the next hop may still read its place.
    func abandon() {
        if completion == nil, !isLate { release() }
    }

    /// By this name a second attempt at the message is known; nil if the journal cannot know the message.
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

    /// Ends the message for the mail server, if that has no reply yet.
    func end(_ reply: SMTPReply) {
        release()
        // What is late was deferred already.
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
    /// In seconds.
    var seconds: Double { Double(nanoseconds) / 1e9 }
}
