import ByteStreams
import NIOCore
import SMIMEGateway

/// One message on its way through the service: its place, a worker, the next hop, and the reply.
///
/// The mail server hears of success only when everything is the next hop's. Everything here happens on the event loop.
final class MessageFlow {
    /// A finished message that goes somewhere.
    struct MessageForm {
        let envelope: SMTPEnvelope
        /// Whether a byte above 127 is in it.
        let isEightBit: Bool
        let content: WorkerContent
    }

    /// What became of the forms.
    struct Placement {
        /// The recipients whose form was taken.
        var served: [String] = []
        /// The next hop's names for the messages.
        var names: [String] = []
        /// Nil if all forms were taken.
        var failure: SMTPReply?
        /// For the log: why the connection failed.
        var reason: String?
    }

    /// The forms of one message, on their way to wherever they go.
    struct Parcel {
        var forms: [MessageForm]
        /// Where spooled forms are.
        let slot: MessageSlot
        /// Records that these recipients have their form, and calls `then`. If the service is killed before all forms are sent, the
        /// next attempt reaches the others alone.
        let record: (_ served: [String], _ then: @escaping () -> Void) -> Void
        /// Says what became of all forms.
        let done: (Placement) -> Void
    }

    /// Gives the forms away.
    typealias Place = (Parcel) -> Void

    private let core: GatewayCore
    let role: GatewayRole
    private let number: UInt64
    private let place: Place
    private let journalName: (SMTPEnvelope) -> String?
    private let forgetsConfirmed: Bool
    private var slot: MessageSlot?
    private var ticket: UInt64?
    private var admissionLimit: Scheduled<Void>?
    private var envelope = SMTPEnvelope(sender: "")
    private var spoolFailure: StreamError?
    private var log: MessageLog
    private var completion: ((SMTPReply) -> Void)?
    private var hasDied = false
    private var worker: Worker?
    private var learns = false
    /// Whether the journal has recipients of this message, from this attempt or an earlier one.
    private var isInJournal = false
    /// Whether all forms are with the next hop.
    private var isTaken = false
    private var received = NIODeadline.distantPast
    private var submitted = NIODeadline.distantPast
    private var handled = TimeAmount.zero

    /// - Parameters:
    ///   - journalName: how the journal knows the message; nil if it cannot.
    ///   - forgetsConfirmed: whether the same name may come again for another message, once the mail server knows that this one was taken.
    ///   - place: what is done with the forms: usually the next hop gets them.
    init(
        _ core: GatewayCore,
        role: GatewayRole,
        journalName: @escaping (SMTPEnvelope) -> String? = \.queueName,
        forgetsConfirmed: Bool = false,
        place: @escaping Place
    ) {
        self.core = core
        self.role = role
        self.place = place
        self.journalName = journalName
        self.forgetsConfirmed = forgetsConfirmed
        number = core.nextNumber()
        log = MessageLog(role: role)
    }

    /// Asks for a place for a message; `answer` gets nil when there is one, else the reply that refuses the message.
    func begin(_ envelope: SMTPEnvelope, _ answer: @escaping (SMTPReply?) -> Void) {
        if let trouble = core.pool.trouble {
            core.metrics.storeErrors += 1
            log.fail("the store cannot be used: \(trouble.reason)")
            postpone(envelope)
            return answer(SMTPReply(451, "4.3.0", "the gateway cannot work now"))
        }
        guard !core.isStopping else { return answer(SMTPReply(421, "4.3.2", "the gateway is stopping")) }
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
            answer(SMTPReply(451, "4.3.2", "the gateway has too many messages"))
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

    /// Adds bytes of the message. A full disk is reported when the message ends.
    func append(_ bytes: ByteBuffer) {
        guard spoolFailure == nil else { return }
        do throws(StreamError) { try slot?.append(bytes) } catch { spoolFailure = error }
    }

    /// Handles the message; `completion` gets the reply for all its recipients.
    func finish(_ completion: @escaping (SMTPReply) -> Void) {
        self.completion = completion
        received = .now()
        log.describe(envelope)
        submit(rescuedFrom: nil)
    }

    /// Forgets the message, which the mail server took back or did not finish.
    ///
    /// One that is being handled already ends by itself: a worker or the next hop may still read its place.
    func abandon() {
        if completion == nil { release() }
    }

    /// Notes whether the mail server has received the reply to an accepted message. If it has not, it will try again, and recipients must
    /// not get the message twice.
    func confirm(_ isDelivered: Bool) {
        guard let worker else { return }
        self.worker = nil
        defer { worker.release() }
        guard isTaken else { return }
        if !isDelivered { core.metrics.unconfirmed += 1 }
        let forgets = forgetsConfirmed && isDelivered && isInJournal
        guard learns || !isDelivered || forgets else { return }
        worker.settle(number, served: isDelivered ? [] : log.served, learns: learns, forgets: forgets)
    }

    private func submit(rescuedFrom: Int32?) {
        guard let slot else { return end(SMTPReply(451, "4.3.0", "the gateway lost the message")) }
        do throws(StreamError) {
            if let spoolFailure { throw spoolFailure }
            let job = WorkerJob(
                number: number,
                role: role,
                sender: envelope.sender,
                recipients: envelope.recipients.map(\.address),
                queueName: journalName(envelope),
                slot: slot.number,
                rescuedFrom: rescuedFrom,
                content: try slot.content()
            )
            submitted = .now()
            core.pool.submit(job) { [self] in answered($0) }
        } catch {
            log.fail("\(error)")
            end(SMTPReply(452, "4.3.1", "the gateway has no room for the message"))
        }
    }

    private func answered(_ result: WorkerPool.Result) {
        handled = .now() - submitted
        switch result {
        case .answered(let outcome, let said, let worker):
            self.worker = worker
            log.add(said)
            core.metrics.cache.hits += UInt64(clamping: said.cacheHits)
            core.metrics.cache.misses += UInt64(clamping: said.cacheMisses)
            handle(outcome)
        case .died(let signal) where !hasDied:
            hasDied = true
            core.metrics.workerDeaths += 1
            log.warnings.append("a worker died at this message (signal \(signal))")
            submit(rescuedFrom: signal)
        case .died(let signal):
            core.metrics.workerDeaths += 1
            log.fail("a second worker died at this message (signal \(signal))")
            end(SMTPReply(451, "4.3.0", "the gateway failed at this message"))
        case .unavailable(let reason):
            log.fail(reason)
            end(SMTPReply(451, "4.3.0", "the gateway cannot work now"))
        }
    }

    private func handle(_ outcome: WorkerOutcome) {
        switch outcome {
        case .served: end(SMTPReply(250, "2.0.0", "all recipients have the message already"))
        case .refused(let refusal):
            log.fail(refusal.detail.isEmpty ? refusal.sentence : refusal.detail)
            end(refusal.reply)
        case .forms(let forms, let learns):
            guard let slot, !forms.isEmpty else {
                return end(SMTPReply(451, "4.3.0", "the gateway lost the message"))
            }
            self.learns = learns
            slot.hasSpooledForms = forms.contains { if case .spooled = $0.content { true } else { false } }
            let placed = forms.map {
                MessageForm(envelope: envelope.narrowed(to: $0), isEightBit: $0.isEightBit, content: $0.content)
            }
            // No recipient is lost between two names for the same one.
            guard zip(placed, forms).allSatisfy({ $0.envelope.recipients.count >= $1.recipients.count }) else {
                return end(SMTPReply(451, "4.3.0", "the gateway lost a recipient"))
            }
            isInJournal =
                journalName(envelope) != nil
                && placed.reduce(0) { $0 + $1.envelope.recipients.count } < envelope.recipients.count
            place(
                Parcel(
                    forms: placed,
                    slot: slot,
                    record: { [self] in record($0, $1) },
                    done: { [self] in self.placed($0) }
                )
            )
        }
    }

    private func placed(_ placement: Placement) {
        log.served = placement.served
        log.addDetail("next_queue_id", placement.names)
        guard let failure = placement.failure else {
            isTaken = true
            let names = placement.names.joined(separator: ", ")
            return end(SMTPReply(250, "2.0.0", names.isEmpty ? "sent" : "sent as \(names)"))
        }
        log.fail("next hop: \(failure)" + (placement.reason.map { ": \($0)" } ?? ""))
        // Before the reply, which may bring the next attempt.
        record(placement.served) { [self] in end(failure) }
    }

    /// Records that `served` have their form, and calls `then`. Nothing is recorded if the worker has ended.
    private func record(_ served: [String], _ then: @escaping () -> Void) {
        guard let worker, journalName(envelope) != nil, !served.isEmpty else { return then() }
        isInJournal = true
        worker.settle(number, served: served, learns: false) { [self] isRecorded in
            if !isRecorded { log.warnings.append("not recorded: another attempt may send some of it twice") }
            then()
        }
    }

    private func end(_ reply: SMTPReply) {
        release()
        let result: ServerMetrics.Result = reply.isSuccess ? .accepted : reply.isTemporary ? .deferred : .refused
        let elapsed = NIODeadline.now() - received
        core.metrics.count(role, result, seconds: elapsed.seconds, handled: handled.seconds)
        log.elapsed = elapsed
        core.write(log, status: result)
        let completion = completion
        self.completion = nil
        completion?(reply)
    }

    private func release() {
        admissionLimit?.cancel()
        if let ticket { core.slots.withdraw(ticket) }
        ticket = nil
        if let slot { core.slots.release(slot) }
        slot = nil
    }
}

extension TimeAmount {
    /// In seconds.
    var seconds: Double { Double(nanoseconds) / 1e9 }
}
