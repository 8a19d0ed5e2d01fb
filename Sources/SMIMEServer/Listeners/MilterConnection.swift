import NIOCore
import SMIMEGateway

/// A connection of a mail server that uses this service as a milter. Passes bytes between the socket, the session and the
/// message flows.
///
/// While a message waits for a slot, nothing more is read. Everything here runs on the event loop.
final class MilterConnection: ChannelInboundHandler, ListenerConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// `idleTime`: the time that a mail server may be silent between two messages (libmilter's default timeout).
    /// `messageTime`: the time in which a message must arrive, and in which the mail server must accept the next piece of a
    /// new body.
    static let (idleTime, messageTime) = (Duration.seconds(7210), Duration.seconds(300))
    /// The number of received bytes for which a message gets one second more than `messageTime`.
    private static let bytesPerSecond = 10_000
    /// The interval of progress replies while a message is handled; Postfix waits 300 seconds for one.
    private static let progressTime = TimeAmount.seconds(30)

    private let core: GatewayCore
    private let listener: Endpoint
    var role: GatewayRole { listener.role }
    let settings: MilterSettings
    let channel: any Channel
    var session = MilterSession()
    private var envelopeShare = EnvelopeBudget.Share()
    private var events = CircularBuffer<MilterSession.Event>()
    var flow: MessageFlow?
    var envelope = MilterEnvelope(sender: MilterAddress(""))
    var sender: InPlaceSender?
    /// Whether the message waits for a slot.
    private var isWaiting = false
    /// The reply for a message that was refused before all of its content arrived; nil if it was not refused.
    private var refusal: SMTPReply?
    private var size = 0
    private var messageStart: ContinuousClock.Instant?
    private var isWorking = false
    var timer: DeadlineTimer?
    /// Observes the mail server after the verdict on a message.
    private var confirmation: ReplyConfirmation?
    private var progress: Scheduled<Void>?
    /// The number of messages so far. It tells whether a result belongs to the current message or to an abandoned one.
    var generation = 0
    private var isStopping = false
    var isOver = false

    init(_ core: GatewayCore, _ listener: Endpoint, settings: MilterSettings, channel: any Channel) {
        self.core = core
        self.listener = listener
        self.settings = settings
        self.channel = channel
    }

    func channelActive(context: ChannelHandlerContext) {
        timer = DeadlineTimer(on: context.eventLoop) { [weak self] in
            guard let self else { return }
            close()
        }
        confirmation = ReplyConfirmation(on: context.eventLoop)
        guard !core.isStopping, !core.connections.isFull else {
            core.warn(
                listener,
                channel,
                reason: core.isStopping ? "the gateway is stopping" : "the gateway has too many connections"
            )
            return close()
        }
        core.connections.add(self)
        timer?.set(Self.idleTime)
        channel.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        confirmation?.note(isRead: true)
        guard !isOver else { return }
        events.append(contentsOf: session.receive(unwrapInboundIn(data)))
        core.envelopes.set(&envelopeShare, to: session.messageSize)
        guard core.envelopes.isExhausted, envelopeShare.exceedsAssured else { return }
        // If a milter ends the connection, the mail server defers the message (Postfix: `milter_default_action = tempfail`).
        core.warn(listener, channel, reason: "no memory for a message with so many recipients or so large a header")
        close()
    }

    func channelReadComplete(context: ChannelHandlerContext) { work() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        sender?.sendMore()
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        confirmation?.cancel()
        // Received events that were not handled yet no longer matter.
        events = CircularBuffer(session.disconnect())
        isWaiting = false
        work()
        end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func drain() {
        isStopping = true
        work()
    }

    func stop() { close() }

    /// Closes the connection after all written bytes were sent.
    func close() { whenSent { [self] _ in channel.close(promise: nil) } }

    /// Calls `body` when everything written so far was sent, or when it can no longer be sent.
    private func whenSent(_ body: @escaping (_ isSent: Bool) -> Void) {
        channel.writeAndFlush(ByteBuffer()).assumeIsolated().whenComplete { result in
            if case .success = result { body(true) } else { body(false) }
        }
    }

    /// Handles the session's events, and stops at a message that waits for a slot.
    private func work() {
        guard !isWorking else { return }
        isWorking = true
        defer { isWorking = false }
        while !isWaiting, !isOver, let event = events.popFirst() { handle(event) }
        channel.flush()
        guard !isOver, !isWaiting else { return }
        if isStopping, flow == nil, refusal == nil { return close() }
        timer?.set(timeout)
        channel.read()
    }

    /// The time that the mail server may take to send its next bytes, or to accept the next piece of a new body; nil
    /// while the mail server waits for this service.
    private var timeout: Duration? {
        if sender != nil { return Self.messageTime }
        guard let messageStart, progress == nil else { return flow == nil ? Self.idleTime : nil }
        let limit = Self.messageTime + .seconds(size / Self.bytesPerSecond)
        return max(limit - (ContinuousClock.now - messageStart), .milliseconds(1))
    }

    private func handle(_ event: MilterSession.Event) {
        switch event {
        case .write(let bytes): channel.write(bytes, promise: nil)
        case .begin(let envelope): begin(envelope)
        case .content(let bytes): take(bytes)
        case .endOfMessage(let envelope): finish(envelope)
        case .abandoned:
            sender?.cancel()
            flow?.abandon()
            endMessage()
        case .close(let violation):
            if let violation {
                core.metrics.violations += 1
                core.warn(listener, channel, reason: "\(violation)")
            }
            close()
        }
    }

    private func begin(_ envelope: MilterEnvelope) {
        generation += 1
        let generation = generation
        let flow = MessageFlow(core, role: role, journalName: \.milterName, forgetsConfirmed: true) { [self] delivery in
            // The mail server may have abandoned this message and sent another one.
            guard generation == self.generation, self.flow != nil, !isOver else {
                return delivery.done(.failed(.undetermined, "the mail server has abandoned the message"))
            }
            deliver(delivery)
        }
        self.flow = flow
        (size, isWaiting) = (0, true)
        flow.begin(SMTPEnvelope(envelope)) { [self] refusal in
            guard self.flow === flow else { return }
            // The wait for a slot is not the client's time.
            (isWaiting, messageStart) = (false, .now)
            if let refusal {
                self.refusal = refusal
                self.flow = nil
            }
            work()
        }
    }

    private func take(_ bytes: ByteBuffer) {
        size += bytes.readableBytes
        if size > settings.maximumSize, let flow {
            core.noteEarlyReply(flow.envelope, role: role, .refused, reason: "larger than --max-size")
            flow.abandon()
            self.flow = nil
            refusal = SMTPReply(552, "5.3.4", text: "a message may have at most \(settings.maximumSize) bytes")
        }
        flow?.append(bytes)
    }

    private func finish(_ envelope: MilterEnvelope) {
        guard let flow else { return answer(refusal ?? .undetermined) }
        self.envelope = envelope
        flow.update(SMTPEnvelope(envelope))
        showProgressLater()
        flow.finish { [self] reply in
            guard self.flow === flow, !isOver else { return flow.confirm(false) }
            answer(reply)
            // Postfix sends the next command after it has queued the message. Until then another attempt waits.
            whenSent { [self] isSent in
                if isSent, flow.isAccepted, !isOver { confirmation?.begin(flow) } else { flow.confirm(isSent) }
            }
        }
    }

    private func showProgressLater() {
        progress = channel.eventLoop.assumeIsolated().scheduleTask(in: Self.progressTime) { [self] in
            if let bytes = session.progress() { channel.writeAndFlush(bytes, promise: nil) }
            showProgressLater()
        }
    }

    /// Sends the verdict on a message to the mail server, unless it was already sent together with a copy that replaces the
    /// message.
    private func answer(_ reply: SMTPReply) {
        let isTold = sender != nil
        endMessage()
        guard !isOver else { return }
        if !isTold {
            let verdict = reply.isSuccess ? MilterVerdict.discard : .refuse(reply.milterRefusal)
            guard let bytes = try? session.finish(verdict) else { return close() }
            channel.writeAndFlush(bytes, promise: nil)
        }
        work()
    }

    private func endMessage() {
        progress?.cancel()
        (flow, refusal, sender, progress, messageStart) = (nil, nil, nil, nil, nil)
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        progress?.cancel()
        sender?.cancel()
        flow?.abandon()
        core.connections.remove(self)
        core.envelopes.set(&envelopeShare, to: 0)
    }
}
