import NIOCore
import NIOPosix
import SMIMEGateway

/// A connection of a mail server that uses SMTP or LMTP. Passes bytes between the socket, the session and the message flows.
///
/// The socket is read only while the session has room, so that a fast client waits for a slow disk or next hop. Everything
/// here runs on the event loop.
final class SMTPConnection: ChannelInboundHandler, ListenerConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A message must arrive in `contentTime`, plus one second for each `bytesPerSecond` bytes that have arrived. Without this
    /// limit a client that sends one byte per minute could keep a slot forever.
    private static let (contentTime, bytesPerSecond) = (Duration.seconds(300), 10_000)
    /// The time to wait, after the last reply, for the client to close the connection.
    private static let lingerTime = TimeAmount.seconds(2)
    /// The time to wait instead if only the end of the connection shows whether the client has read the reply to a message.
    private static let confirmationTime = TimeAmount.seconds(10)
    /// The time for which the reply to QUIT is held back if the client sent QUIT together with a message.
    private static let quitTime = TimeAmount.milliseconds(100)

    let core: GatewayCore
    private let listener: Endpoint
    var role: GatewayRole { listener.role }
    let deliver: MessageFlow.Deliver
    let channel: any Channel
    var session: SMTPServerSession
    private var unread = ByteBuffer()
    private var envelopeShare = EnvelopeBudget.Share()
    var flow: MessageFlow?
    /// The number of recipients of the current message. In LMTP each one gets a reply.
    var recipientCount = 0
    /// Observes the client after the reply to a message.
    var confirmation: ReplyConfirmation?
    private var quitTimer: DeadlineTimer?
    var contentStart: ContinuousClock.Instant?
    var contentSize = 0
    private var timer: DeadlineTimer?
    private var isWorking = false
    var isOver = false
    var clientIsGone = false
    private var hasEndedInput = false

    init(
        _ core: GatewayCore,
        _ listener: Endpoint,
        settings: SMTPServerSession.Settings,
        channel: any Channel,
        deliver: @escaping MessageFlow.Deliver
    ) {
        self.core = core
        self.listener = listener
        self.deliver = deliver
        self.channel = channel
        session = SMTPServerSession(settings)
    }

    func channelActive(context: ChannelHandlerContext) {
        timer = DeadlineTimer(on: context.eventLoop) { [weak self] in
            guard let self else { return }

            // A client that times out gets 421, and its message is dropped.
            session.close(SMTPReply(421, "4.4.2", text: "timeout exceeded"))
            work()
        }
        confirmation = ReplyConfirmation(on: context.eventLoop)
        quitTimer = DeadlineTimer(on: context.eventLoop) { [weak self] in
            self?.session.holdsQuit = false
            self?.work()
        }
        if core.isStopping {
            refuse("the gateway is stopping")
        } else if core.connections.isFull {
            refuse("the gateway has too many connections")
        }
        core.connections.add(self)
        work()
    }

    private func refuse(_ reason: String) {
        core.warn(listener, channel, reason: reason)
        session.close(SMTPReply(421, "4.3.2", text: reason))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        confirmation?.note(isRead: true)
        guard !isOver else { return }
        var bytes = unwrapInboundIn(data)
        unread.writeBuffer(&bytes)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // After the end of the session, input is read and dropped until the client closes the connection.
        if isOver { channel.read() } else { work() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if channel.isWritable { work() }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            clientIsGone = true
            flow?.deferIfWaiting()
            confirmation?.note(isRead: (isOver || session.holdsQuit) && !hasReset)
            if isOver { return close() }
            work()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        clientIsGone = true
        flow?.deferIfWaiting()
        // After the end of the session, the client closed the connection, or `errorCaught` was called before.
        confirmation?.note(isRead: isOver)
        confirmation?.cancel()
        timer?.cancel()
        quitTimer?.cancel()
        core.connections.remove(self)
        defer { core.envelopes.set(&envelopeShare, to: 0) }
        guard !isOver else { return }
        work()
        // A message that is being handled is finished, but its reply is not sent.
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        clientIsGone = true
        confirmation?.note(isRead: false)
        context.close(promise: nil)
    }

    /// Whether the client's host has reset the connection because it received bytes that the client no longer read.
    private var hasReset: Bool {
        let option = ChannelOptions.Types.SocketOption(level: .socket, name: .so_error)
        return (try? channel.syncOptions?.getOption(option)) != 0
    }

    func drain() {
        session.closeAfterMessage(with: SMTPReply(421, "4.3.2", text: "the gateway is stopping"))
        work()
    }

    func stop() {
        session.close(SMTPReply(421, "4.3.2", text: "the gateway is stopping"))
        work()
    }

    private func close() { channel.close(promise: nil) }

    /// Handles all events and input, as long as the client reads its replies. If a flow replies during this call, the same
    /// call handles the reply.
    func work() {
        guard !isWorking else { return }
        isWorking = true
        defer { isWorking = false }
        var (isBlocked, wasGone) = (false, false)
        repeat {
            while !isOver, channel.isWritable || clientIsGone, step() {}
            (isBlocked, wasGone) = (!channel.isWritable, clientIsGone)
            // If the client is gone, this closes the channel, and `channelInactive` calls this function, which returns at once.
            channel.flush()
        } while !isOver && (isBlocked && channel.isWritable || clientIsGone && !wasGone)
        guard !isOver, channel.isActive else { return }
        timer?.set(timeout)
        if session.wantsInput, !clientIsGone, channel.isWritable { channel.read() }
    }

    /// Handles one event or one piece of input; returns false if there is none.
    private func step() -> Bool {
        session.refusesMoreRecipients = core.envelopes.isExhausted
        defer { core.envelopes.set(&envelopeShare, to: session.envelopeSize) }
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

    func handle(_ event: SMTPServerSession.Event) {
        switch event {
        case .reply(let bytes):
            channel.write(bytes, promise: nil)
            noteRefusal()
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

    /// Counts and logs a message that the session itself refused.
    private func noteRefusal() {
        guard let refusal = session.refusal else { return }
        session.refusal = nil
        let reason =
            switch refusal.reason {
            case .size: "larger than --max-size"
            case .hiddenDot: "a line of NUL characters and a dot"
            }
        core.noteEarlyReply(refusal.envelope, role: role, .refused, reason: reason)
    }

    /// Holds back the reply to a QUIT that the client sent together with the message.
    func holdQuit() {
        guard session.isQuitNext else { return }
        session.holdsQuit = true
        quitTimer?.set(Self.quitTime)
    }

    func endMessage() { (flow, contentStart, contentSize) = (nil, nil, 0) }

    /// Sends the last reply and ends the session. Closing a socket with unread input would reset the connection, and the
    /// client might not receive the reply.
    private func end() {
        isOver = true
        confirmation?.awaitEnd()
        if let violation = session.violation {
            core.metrics.violations += 1
            core.warn(listener, channel, reason: "protocol error: \(violation)")
        } else if let abuse = session.abuse {
            core.warn(listener, channel, reason: abuse)
        }
        flow?.abandon()
        endMessage()
        unread = ByteBuffer()
        channel.flush()
        guard channel.isActive, !clientIsGone else { return close() }
        channel.close(mode: .output, promise: nil)
        channel.read()
        timer?.cancel()
        let time = confirmation?.isPending == true ? Self.confirmationTime : Self.lingerTime
        channel.eventLoop.assumeIsolated().scheduleTask(in: time) { [self] in
            confirmation?.note(isRead: false)
            close()
        }
    }
}
