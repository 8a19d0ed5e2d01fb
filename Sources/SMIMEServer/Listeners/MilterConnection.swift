import NIOCore
import SMIMEGateway

/// One connection of a mail server that asks us as a milter: moves bytes between its socket, the session and the flows of messages.
///
/// While a message waits for a place, nothing more is read. Everything here happens on the event loop.
final class MilterConnection: ChannelInboundHandler, ListenerConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a mail server may say nothing between two messages (libmilter's own limit), and within one.
    private static let (idleTime, messageTime) = (Duration.seconds(7210), Duration.seconds(300))
    /// How often we say that we are still at work; Postfix waits 300 seconds.
    private static let progressTime = TimeAmount.seconds(30)

    private let core: GatewayCore
    private let role: GatewayRole
    private let settings: MilterSettings
    private let channel: any Channel
    private var session = MilterSession()
    private var events = CircularBuffer<MilterSession.Event>()
    private var flow: MessageFlow?
    private var envelope = MilterEnvelope(sender: MilterAddress(""))
    private var sender: InPlaceSender?
    /// Whether the message waits for a place.
    private var isWaiting = false
    /// The reply for a message that is not taken.
    private var refusal: SMTPReply?
    private var size = 0
    private var timer: DeadlineTimer?
    private var progress: Scheduled<Void>?
    private var isStopping = false
    private var isOver = false

    init(_ core: GatewayCore, role: GatewayRole, _ settings: MilterSettings, _ channel: any Channel) {
        self.core = core
        self.role = role
        self.settings = settings
        self.channel = channel
    }

    func channelActive(context: ChannelHandlerContext) {
        timer = DeadlineTimer(on: context.eventLoop) { [self] in close() }
        guard !core.isStopping, !core.connections.isFull else { return close() }
        core.connections.add(self)
        timer?.set(Self.idleTime)
        channel.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        events.append(contentsOf: session.receive(unwrapInboundIn(data)))
    }

    func channelReadComplete(context: ChannelHandlerContext) { work() }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        sender?.sendMore()
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        events.append(contentsOf: session.disconnect())
        isWaiting = false
        work()
        end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func drain() {
        isStopping = true
        if flow == nil, refusal == nil { close() }
    }

    func close() { channel.close(promise: nil) }

    /// Does what there is to do, up to a message that waits for a place.
    private func work() {
        while !isWaiting, !isOver, let event = events.popFirst() { handle(event) }
        channel.flush()
        guard !isOver, !isWaiting else { return }
        timer?.set(flow == nil ? Self.idleTime : progress == nil ? Self.messageTime : nil)
        channel.read()
    }

    private func handle(_ event: MilterSession.Event) {
        switch event {
        case .write(let bytes): channel.write(bytes, promise: nil)
        case .begin(let envelope): begin(envelope)
        case .content(let bytes): take(bytes)
        case .endOfMessage(let envelope): finish(envelope)
        case .abandoned:
            flow?.abandon()
            endMessage()
        case .close(let violation):
            if violation != nil { core.metrics.violations += 1 }
            channel.flush()
            close()
        }
    }

    private func begin(_ envelope: MilterEnvelope) {
        let flow = MessageFlow(core, role: role, journalName: \.milterName) { [self] in place($0) }
        self.flow = flow
        (size, isWaiting) = (0, true)
        flow.begin(SMTPEnvelope(envelope)) { [self] refusal in
            isWaiting = false
            if let refusal {
                self.refusal = refusal
                self.flow = nil
            }
            work()
        }
    }

    private func take(_ bytes: ByteBuffer) {
        size += bytes.readableBytes
        if size > settings.maximumSize, flow != nil {
            flow?.abandon()
            flow = nil
            refusal = SMTPReply(552, "5.3.4", "a message may have \(settings.maximumSize) bytes")
        }
        flow?.append(bytes)
    }

    private func finish(_ envelope: MilterEnvelope) {
        guard let flow else { return answer(refusal ?? .undetermined) }
        self.envelope = envelope
        flow.update(SMTPEnvelope(envelope))
        showProgressLater()
        flow.finish { [self] reply in
            answer(reply)
            flow.confirm(!isOver && channel.isActive)
        }
    }

    private func showProgressLater() {
        progress = channel.eventLoop.assumeIsolated().scheduleTask(in: Self.progressTime) { [self] in
            if let bytes = session.progress() { channel.writeAndFlush(bytes, promise: nil) }
            showProgressLater()
        }
    }

    /// Tells the mail server how its message ended, unless it stays in place, which was told already.
    private func answer(_ reply: SMTPReply) {
        let isTold = sender != nil
        endMessage()
        guard !isOver else { return }
        if !isTold {
            let verdict = reply.isSuccess ? MilterVerdict.discard : .refuse(reply.milterRefusal)
            guard let bytes = try? session.finish(verdict) else { return close() }
            channel.writeAndFlush(bytes, promise: nil)
        }
        if isStopping { close() } else { work() }
    }

    private func endMessage() {
        progress?.cancel()
        (flow, refusal, sender, progress) = (nil, nil, nil, nil)
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        progress?.cancel()
        sender?.cancel()
        flow?.abandon()
        core.connections.remove(self)
    }
}

extension MilterConnection {
    /// Gives all forms but one to the next hop; that one takes the message's place.
    private func place(_ parcel: MessageFlow.Parcel) {
        let place = Self.stayingForm(of: parcel.forms, sender: envelope.sender.address)
        let form = parcel.forms[place]
        var others = parcel.forms
        others.remove(at: place)
        guard !others.isEmpty else { return send(form, parcel, MessageFlow.Placement()) }
        guard let hop = settings.nextHop else {
            let reply = SMTPReply(451, "4.3.5", "the gateway cannot send the recipients different messages")
            return parcel.done(.failed(reply, "--next-hop \(role.rawValue)=smtp:ADDRESS is needed for it"))
        }
        let copies = MessageFlow.Parcel(forms: others, slot: parcel.slot, record: parcel.record) { [self] placement in
            guard placement.failure == nil else { return parcel.done(placement) }
            // The mail server may be killed before it has our verdict.
            parcel.record(placement.served) { [self] in send(form, parcel, placement) }
        }
        hop.deliver(copies)
    }

    /// The form that needs no other sender and is for most recipients.
    private static func stayingForm(of forms: [MessageFlow.Form], sender: String) -> Int {
        let places = forms.indices.filter { forms[$0].envelope.sender == sender }
        return (places.isEmpty ? Array(forms.indices) : places)
            .max { forms[$0].envelope.recipients.count < forms[$1].envelope.recipients.count } ?? 0
    }

    private func send(_ form: MessageFlow.Form, _ parcel: MessageFlow.Parcel, _ placement: MessageFlow.Placement) {
        var failed = placement
        guard !isOver else {
            failed.failure = .undetermined
            return parcel.done(failed)
        }
        do {
            let sender = try InPlaceSender(form, parcel.slot, over: channel)
            let first = try session.finish(sender.verdict(for: envelope))
            channel.write(first, promise: nil)
            self.sender = sender
            sender.run(
                write: { [self] in channel.writeAndFlush(session.replaceBody($0), promise: nil) },
                end: { [self] failure in
                    if let failure {
                        (failed.failure, failed.reason) = (.undetermined, failure)
                        // Half of a body cannot be taken back.
                        close()
                        return parcel.done(failed)
                    }
                    channel.writeAndFlush(session.finishBody(), promise: nil)
                    parcel.done(placement)
                }
            )
        } catch let error as MilterEditError {
            failed.failure = error.reply
            failed.reason = "\(error)"
            parcel.done(failed)
        } catch {
            (failed.failure, failed.reason) = (.undetermined, "\(error)")
            parcel.done(failed)
        }
    }
}
