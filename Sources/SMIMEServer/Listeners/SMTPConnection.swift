import NIOCore
import NIOPosix
import SMIMEGateway

/// One connection of a mail server that speaks SMTP or LMTP: moves bytes between its socket, the session and the flows of messages.
///
/// Reads only while the session has room, so that a fast client waits for a slow disk or next hop. Everything here happens on the
/// event loop.
final class SMTPConnection: ChannelInboundHandler, ListenerConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The time that a message of any size may take to arrive, and the slowest rate after that: a client that sends a byte a minute would
    /// hold a slot for ever.
    private static let (contentTime, bytesPerSecond) = (Duration.seconds(300), 10_000)
    /// How long we wait, after our last word, for a client to close.
    private static let lingerTime = TimeAmount.seconds(2)

    private let core: GatewayCore
    private let listener: Endpoint
    private var role: GatewayRole { listener.role }
    private let place: MessageFlow.Place
    private let channel: any Channel
    private var session: SMTPServerSession
    private var unread = ByteBuffer()
    private var flow: MessageFlow?
    /// The recipients of the message in flight, each of which gets a reply in LMTP.
    private var recipientCount = 0
    private var contentStart: ContinuousClock.Instant?
    private var contentSize = 0
    private var timer: DeadlineTimer?
    private var isWorking = false
    private var isOver = false
    private var clientIsGone = false
    private var hasEndedInput = false

    init(
        _ core: GatewayCore,
        _ listener: Endpoint,
        _ settings: SMTPServerSession.Settings,
        _ channel: any Channel,
        place: @escaping MessageFlow.Place
    ) {
        self.core = core
        self.listener = listener
        self.place = place
        self.channel = channel
        session = SMTPServerSession(settings)
    }

    func channelActive(context: ChannelHandlerContext) {
        timer = DeadlineTimer(on: context.eventLoop) { [weak self] in
            guard let self else { return }

            // A client that times out gets 421, and its message is dropped.
            session.close(SMTPReply(421, "4.4.2", "nothing came for too long"))
            work()
        }
        if core.isStopping {
            session.close(SMTPReply(421, "4.3.2", "the gateway is stopping"))
        } else if core.connections.isFull {
            session.close(SMTPReply(421, "4.3.2", "the gateway has too many connections"))
        }
        core.connections.add(self)
        work()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        var bytes = unwrapInboundIn(data)
        unread.writeBuffer(&bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Input is read and dropped until the client closes, too.
        if isOver { channel.read() } else { work() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if channel.isWritable { work() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            clientIsGone = true
            if isOver { return close() }
            work()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        clientIsGone = true
        timer?.cancel()
        core.connections.remove(self)
        guard !isOver else { return }
        work()
        // A message that is being handled is finished; its reply goes nowhere.
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        clientIsGone = true
        context.close(promise: nil)
    }

    func drain() {
        session.drain(SMTPReply(421, "4.3.2", "the gateway is stopping"))
        work()
    }

    func stop() {
        session.close(SMTPReply(421, "4.3.2", "the gateway is stopping"))
        work()
    }

    private func close() { channel.close(promise: nil) }

    /// Does what there is to do, as long as the client reads its replies. Answers of flows come in the midst of it, and are taken up in
    /// the same turn.
    private func work() {
        guard !isWorking else { return }
        isWorking = true
        defer { isWorking = false }
        var isBlocked = false
        repeat {
            while !isOver, channel.isWritable || clientIsGone, step() {}
            isBlocked = !channel.isWritable
            channel.flush()
        } while !isOver && isBlocked && channel.isWritable
        guard !isOver else { return }
        timer?.set(timeout)
        if session.wantsInput, !clientIsGone, channel.isWritable { channel.read() }
    }

    /// Does one thing; false if there is nothing to do.
    private func step() -> Bool {
        if let event = session.next() {
            handle(event)
        } else if unread.readableBytes > 0, session.wantsInput {
            session.receive(&unread)
            if unread.readableBytes == 0 { unread = ByteBuffer() }
        } else if clientIsGone, unread.readableBytes == 0, !hasEndedInput {
            hasEndedInput = true
            session.endOfInput()
        } else {
            return false
        }
        return true
    }

    private var timeout: Duration? {
        guard let timeout = session.timeout, let contentStart else { return session.timeout }
        let limit = Self.contentTime + .seconds(contentSize / Self.bytesPerSecond)
        return min(timeout, max(limit - (ContinuousClock.now - contentStart), .milliseconds(1)))
    }

    private func handle(_ event: SMTPServerSession.Event) {
        switch event {
        case .reply(let bytes):
            channel.write(bytes, promise: nil)
            noteSize()
        case .message(let envelope): begin(envelope)
        case .content(let bytes):
            contentSize += bytes.readableBytes
            flow?.append(bytes)
        case .endOfMessage: finish()
        case .abandoned:
            flow?.abandon()
            endMessage()
        case .close: end()
        }
    }

    /// Counts and logs a message that is too large, which the session refuses by itself.
    private func noteSize() {
        guard session.hasRefusedSize else { return }
        session.hasRefusedSize = false
        core.metrics.countUnread(role, .refused)
        core.warn(listener, channel, "a message is larger than --max-size")
    }

    private func begin(_ envelope: SMTPEnvelope) {
        let flow = MessageFlow(core, role: role, place: place)
        self.flow = flow
        recipientCount = envelope.recipients.count
        flow.begin(envelope) { [self] refusal in
            if let refusal {
                self.flow = nil
                session.refuse(refusal)
            } else {
                (contentStart, contentSize) = (.now, 0)
                session.accept()
            }
            work()
        }
    }

    private func finish() {
        guard let flow else { return session.finish([]) }
        contentStart = nil
        flow.finish { [self] reply in
            endMessage()
            session.finish(Array(repeating: reply, count: max(recipientCount, 1)))
            confirm(flow)
            work()
        }
    }

    /// Lets the flow know whether its reply could be sent.
    private func confirm(_ flow: MessageFlow) {
        guard !clientIsGone, channel.isActive else { return flow.confirm(false) }
        var last: EventLoopFuture<Void>?
        while let event = session.next() {
            guard case .reply(let bytes) = event else {
                handle(event)
                continue
            }
            last = channel.writeAndFlush(bytes)
        }
        guard let last else { return flow.confirm(false) }
        last.assumeIsolated().whenComplete { result in
            if case .success = result { flow.confirm(true) } else { flow.confirm(false) }
        }
    }

    private func endMessage() { (flow, contentStart, contentSize) = (nil, nil, 0) }

    /// Sends the last words. A socket closed with unread input resets the connection, and the client might not see them.
    private func end() {
        isOver = true
        if let violation = session.violation {
            core.metrics.violations += 1
            core.warn(listener, channel, "protocol error: \(violation)")
        }
        flow?.abandon()
        endMessage()
        unread = ByteBuffer()
        channel.flush()
        guard channel.isActive, !clientIsGone else { return close() }
        channel.close(mode: .output, promise: nil)
        channel.read()
        timer?.cancel()
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTime) { [self] in close() }
    }
}
