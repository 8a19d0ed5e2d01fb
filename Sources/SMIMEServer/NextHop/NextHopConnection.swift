import NIOCore

/// One connection to the next hop. It sends messages one after the other.
final class NextHopConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The number of bytes of a spooled message that are read at once.
    private static let window = 64 << 10

    private let hop: NextHop
    private let channel: any Channel
    private var session: SMTPClientSession
    private var delivery: NextHopDelivery?
    private var timer: DeadlineTimer?
    /// Whether the connection was idle before the current delivery, and no content was sent for the delivery yet.
    private var isUntried = false
    /// Whether the next hop has answered a transaction of the current delivery, and the next transaction has not begun.
    private var isBetweenTransactions = false
    /// Whether the content of the current transaction is being sent.
    private var isSendingContent = false
    /// Whether recipients are being recorded before the next transaction begins.
    private var isPreparing = false
    /// The delivery that continues over a new connection when its recipients are recorded; nil if there is none.
    private var waiting: NextHopDelivery?
    /// The number of transactions that began on this connection.
    private var transactionCount = 0
    /// Whether the connection gets no other message, and ends as soon as the session is ready.
    private var closesWhenReady = false
    /// The part of a spooled message that was not sent yet; nil if no spooled message is being sent.
    private var unsent: Range<Int>?
    private var isClosed = false

    init(_ hop: NextHop, _ channel: any Channel) {
        self.hop = hop
        self.channel = channel
        session = SMTPClientSession(hostName: hop.settings.hostName)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = DeadlineTimer(on: context.eventLoop) { [weak self] in
            guard let self else { return }

            if session.isReady { return quit() }
            session.fail("timeout exceeded")
            drain()
        }
    }

    /// Sends a message. If the next hop has closed an idle connection in the meantime, a new connection is used.
    func run(_ delivery: NextHopDelivery, isFresh: Bool) {
        guard !isClosed else { return hop.deliverOverNewConnection(delivery) }
        self.delivery = delivery
        isUntried = !isFresh
        isBetweenTransactions = false
        guard session.isReady else { return drain() }
        begin()
    }

    /// Ends an idle connection.
    func quit() {
        hop.ended(self)
        session.quit()
        drain()
    }

    private func begin() {
        guard let delivery else { return }
        isPreparing = true
        delivery.prepareNext { [self] in
            isPreparing = false
            // The next hop may have closed the connection in the meantime.
            guard isClosed else { return beginNext() }
            if let waiting { hop.deliverOverNewConnection(waiting) }
            waiting = nil
        }
    }

    private func beginNext() {
        guard let transaction = delivery?.next() else {
            delivery = nil
            timer?.set(hop.settings.idleTime)
            return hop.becameIdle(self)
        }
        transactionCount += 1
        (isBetweenTransactions, isSendingContent) = (false, false)
        session.begin(transaction)
        drain()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        session.receive(&bytes)
        drain()
    }

    /// Handles all events of the session.
    private func drain() {
        var hasWritten = false
        while !isClosed, let event = session.next() {
            switch event {
            case .write(let bytes):
                channel.write(bytes, promise: nil)
                hasWritten = true
            case .ready:
                if hasWritten { channel.flush() }
                hasWritten = false
                if delivery != nil { begin() } else if closesWhenReady { quit() }
            case .sendContent:
                (isUntried, isSendingContent) = (false, true)
                sendContent()
                hasWritten = true
            case .accepted(let reply):
                isBetweenTransactions = true
                delivery?.accepted(reply)
            case .probed:
                isBetweenTransactions = true
                delivery?.probed()
            case .refused(let refusals):
                isBetweenTransactions = true
                unsent = nil
                if isLimit(refusals) { continueOverNewConnection() } else { delivery?.refused(refusals) }
            case .unusable(let failure): end(failure)
            }
        }
        if hasWritten { channel.flush() }
        if !isClosed, !(session.isReady && delivery == nil) { timer?.set(session.timeout) }
    }

    /// Whether the next hop may have refused only because it accepts no more messages over this connection: it refused the
    /// sender with 4xx, after other transactions. OpenSMTPD does so after a hundred messages (`smtp limit max-mails`).
    private func isLimit(_ refusals: [SMTPRefusal]) -> Bool {
        transactionCount > 1 && refusals.count == 1
            && refusals.contains { $0.subject == .sender && !$0.reply.isPermanent }
    }

    /// Continues the delivery with the refused message over a new connection, and ends this one.
    private func continueOverNewConnection() {
        guard let left = delivery else { return }
        delivery = nil
        closesWhenReady = true
        hop.deliverOverNewConnection(left)
    }

    private func sendContent() {
        guard let content = delivery?.content else { return }
        switch content {
        case .bytes(let bytes):
            channel.write(session.send(bytes), promise: nil)
            channel.write(session.endOfContent(), promise: nil)
        case .spooled(let range):
            unsent = range
            sendMore()
        }
    }

    /// Sends as much of a spooled message as the socket accepts now.
    private func sendMore() {
        while let range = unsent, channel.isWritable {
            let piece = range.prefix(Self.window)
            guard !piece.isEmpty else {
                unsent = nil
                channel.writeAndFlush(session.endOfContent(), promise: nil)
                break
            }
            do {
                guard let bytes = try delivery?.bytes(in: piece) else { return }
                unsent = piece.upperBound..<range.upperBound
                channel.writeAndFlush(session.send(bytes), promise: nil)
            } catch {
                unsent = nil
                session.fail("\(error)")
            }
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if unsent != nil {
            sendMore()
            drain()
        }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        session.endOfInput()
        drain()
        guard !isClosed else { return }
        end(SMTPConnectionFailure(.notTaken, "closed"))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        session.fail("\(error)")
        drain()
        context.close(promise: nil)
    }

    private func end(_ failure: SMTPConnectionFailure) {
        guard !isClosed else { return }
        isClosed = true
        timer?.cancel()
        hop.ended(self)
        let left = delivery
        delivery = nil
        channel.close(promise: nil)
        guard let left else { return }
        let isBetween = isBetweenTransactions && failure.outcome == .noMessage
        if isBetween, left.reportsEnd() { return }
        if isUntried, failure.outcome != .unknown { return hop.deliverOverNewConnection(left) }
        // The next hop may limit the number of transactions on one connection. Each new connection handles at least one
        // transaction, so the delivery comes to an end.
        if isBetween {
            guard isPreparing else { return hop.deliverOverNewConnection(left) }
            waiting = left
            return
        }
        // The same holds if it ends the connection at the next transaction, as Exim does after a thousand messages.
        if transactionCount > 1, !isSendingContent, failure.outcome == .notTaken {
            return hop.deliverOverNewConnection(left)
        }
        left.fail(
            SMTPReply(451, "4.4.2", text: "the connection to the mail server behind the gateway has failed"),
            failure
        )
    }
}
