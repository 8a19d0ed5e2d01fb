import ByteStreams
import InternetMessage
import NIOCore
import SMIMEGateway

/// Handling by a worker, and delivery of the copies to the next hop.
extension MessageFlow {
    func submit(rescuedFrom: Int32?) {
        guard let slot else { return end(SMTPReply(451, "4.3.0", text: "the gateway has no result for this message")) }
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
                changeCount: core.changeCount,
                content: try slot.content()
            )
            // A worker that ends, or whose answer comes too late, may have written copies.
            slot.mayHaveSpooledCopies = true
            core.pool.submit(job) { [self] in
                answered($0)
            } began: { [self] in
                begun = .now()
            }
        } catch {
            log.fail("\(error)")
            end(SMTPReply(452, "4.3.1", text: "the gateway has no room for the message"))
        }
    }

    private func answered(_ result: WorkerPool.Result) {
        if let begun { handled = handled + (NIODeadline.now() - begun) }
        begun = nil
        switch result {
        case .answered(let outcome, let said, let worker):
            self.worker = worker
            log.add(said)
            core.changeCount = max(core.changeCount, said.changeCount)
            core.metrics.cache.hits += UInt64(clamping: said.cacheHits)
            core.metrics.cache.misses += UInt64(clamping: said.cacheMisses)
            core.metrics.cryptoTime = core.metrics.cryptoTime + said.cryptoTime
            handle(outcome)
        case .ended(let signal) where !wasInterrupted && !hasDied:
            wasInterrupted = true
            log.warnings.append("the worker was ended (signal \(signal)), and another one got the message")
            submit(rescuedFrom: nil)
        // The second worker that is ended counts as crashed: the kernel may end every worker because of the memory that it
        // uses for this message.
        case .died(let signal), .ended(let signal):
            died(signal, "crashed while handling this message (signal \(signal))")
        case .computedTooLong(let limit, let signal):
            let seconds = limit.nanoseconds / 1_000_000_000
            died(signal, "was ended after \(seconds) s: it was still computing for this message")
        case .overdue(let limit):
            let seconds = limit.nanoseconds / 1_000_000_000
            log.fail("the worker was ended after \(seconds) s: it waited for the store or the network")
            end(SMTPReply(451, "4.3.0", text: "the gateway cannot work now"))
        case .unavailable(let reason):
            log.fail(reason)
            end(SMTPReply(451, "4.3.0", text: "the gateway cannot work now"))
        }
    }

    /// Lets another worker rescue the message that made a worker die by `signal`, or ends the message if it is the second
    /// worker. `text` says what happened, for the log.
    private func died(_ signal: Int32, _ text: String) {
        core.metrics.workerDeaths += 1
        guard !hasDied else {
            log.fail("a second worker \(text)")
            return end(SMTPReply(451, "4.3.0", text: "the gateway crashed while handling this message"))
        }
        hasDied = true
        log.warnings.append("a worker \(text)")
        submit(rescuedFrom: signal)
    }

    private func handle(_ outcome: WorkerOutcome) {
        switch outcome {
        case .served: end(SMTPReply(250, "2.0.0", text: "all recipients have the message already"))
        case .refused(let refusal):
            log.fail(refusal.detail.isEmpty ? refusal.sentence : refusal.detail)
            end(refusal.reply)
        case .copies where isLate && claim == nil:
            log.fail("ready too late")
            end(.late)
        case .copies(let copies, let entry, let learns):
            guard let slot, !copies.isEmpty else {
                return end(SMTPReply(451, "4.3.0", text: "the gateway has no result for this message"))
            }
            (self.entry, self.learns) = (entry, learns)
            let areSpooled = copies.contains { if case .spooled = $0.content { true } else { false } }
            slot.mayHaveSpooledCopies = areSpooled || wasInterrupted || hasDied
            let narrowedCopies = copies.map {
                MessageCopy(envelope: envelope.narrowed(to: $0), isEightBit: $0.isEightBit, content: $0.content)
            }
            // This makes sure that no recipient is lost, even if the worker and the envelope write the same address
            // differently.
            guard zip(narrowedCopies, copies).allSatisfy({ $0.envelope.recipients.count >= $1.recipients.count }) else {
                return end(SMTPReply(451, "4.3.0", text: "the gateway has no result for a recipient"))
            }
            isInJournal =
                journalName(envelope) != nil
                && narrowedCopies.reduce(0) { $0 + $1.envelope.recipients.count } < envelope.recipients.count
            let delivery = PendingDelivery(
                copies: narrowedCopies,
                slot: slot,
                record: { [self] in record($0, $1) },
                done: { [self] in self.delivered($0) }
            )
            guard core.pool.isJournalFailing, entry != nil, copies.count > 1 else { return deliver(delivery) }
            // If the journal cannot be written, every attempt would send again the copies that the next hop has accepted.
            core.pool.checkJournal { [self] isWritable in
                if isLate, claim == nil {
                    log.fail("ready too late")
                    return end(.late)
                }
                guard !isWritable else { return deliver(delivery) }
                core.metrics.storeErrors += 1
                log.fail("the journal cannot be written, and the message has several copies")
                end(SMTPReply(451, "4.3.0", text: "the gateway cannot work now"))
            }
        }
    }

    private func delivered(_ result: DeliveryResult) {
        log.served = result.served
        log.addDetail("next_queue_id", result.names)
        log.addDetail("next_hop_reply", result.replies)
        guard let failure = result.failure else {
            isAccepted = true
            return end(SMTPReply(250, "2.0.0", text: result.acceptance))
        }
        if result.isUnknown {
            core.metrics.unknown += 1
            log.warnings.append("the next hop may have the message, so another attempt may send it twice")
        }
        if let error = result.error { log.fail(error) }
        // The served recipients are recorded before the reply, because the mail server may start the next attempt when it
        // receives the reply.
        record(result.served) { [self] in end(failure) }
    }

    /// Records that the recipients `served` have their copy, and calls `then`.
    private func record(_ served: [String], _ then: @escaping () -> Void) {
        guard let worker, let entry, !served.isEmpty else { return then() }
        isInJournal = true
        core.pool.settle(WorkerSettlement(number: number, entry: entry, served: served), by: worker) {
            [self] isRecorded in
            if !isRecorded {
                core.metrics.storeErrors += 1
                log.warnings.append("the delivery is not recorded: another attempt may send some copies twice")
            }
            then()
        }
    }
}

extension SMTPEnvelope {
    /// The message's name in the journal: the mail server's name from EHLO or LHLO, and its queue id from XFORWARD; nil if
    /// the queue id was not reported.
    var queueName: String? {
        identifier.map { "\(clientName)/\($0)" }
    }

    /// The mail server's queue id, from XFORWARD or from the milter macro `i`; nil if it was not reported.
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
        let wanted = Set(copy.recipients.map(ExactText.init))
        narrowed.recipients = recipients.filter { wanted.contains(ExactText($0.address)) }
        return narrowed
    }
}

extension WorkerRefusal {
    /// The refusal as a reply to the mail server.
    var reply: SMTPReply {
        SMTPReply(code, EnhancedStatusCode(enhancedCode), text: sentence)
    }
}
