import Foundation
import NIOCore
import NIOPosix

/// The delivery of the copies of one message to the next hop.
///
/// If there are several copies, the next hop is asked about all recipients before the first content is sent. So either
/// all copies are sent or none, unless the connection fails, or the next hop later refuses recipients that it accepted
/// first. If it refuses the content of one copy, the other copies are still sent.
final class NextHopDelivery {
    private let delivery: MessageFlow.PendingDelivery
    private var copies: [MessageFlow.MessageCopy] { delivery.copies }
    /// The transactions that only ask whether the recipients are accepted; none if there is only one copy.
    private var probes: [SMTPTransaction]
    private var result = MessageFlow.DeliveryResult()
    /// The index of the current probe or copy.
    private var place = 0
    private var isProbing: Bool
    /// The number of served recipients that are recorded.
    private var recordedCount = 0

    init(_ delivery: MessageFlow.PendingDelivery) {
        self.delivery = delivery
        probes = delivery.copies.count > 1 ? Self.probes(of: delivery.copies) : []
        isProbing = !probes.isEmpty
    }

    /// The number of recipients that a mail server must accept in one transaction (RFC 5321 §4.5.3.1.8).
    private static let probedRecipients = 100

    /// Transactions without content that name all recipients of the copies.
    ///
    /// They are few, because mail servers limit how many a connection may have: Exim to ten (`smtp_accept_max_nonmail`),
    /// Postfix to a hundred (`smtpd_junk_command_limit`).
    private static func probes(of copies: [MessageFlow.MessageCopy]) -> [SMTPTransaction] {
        var probes: [SMTPTransaction] = []
        for copy in copies {
            var probe = transaction(for: copy, isProbe: true)
            if let last = probes.last, last.envelope.sender == copy.envelope.sender,
                last.envelope.recipients.count + copy.envelope.recipients.count <= probedRecipients
            {
                probes.removeLast()
                probe.envelope.recipients = last.envelope.recipients + probe.envelope.recipients
                probe.content.size = max(last.content.size, probe.content.size)
                probe.content.isEightBit = last.content.isEightBit || probe.content.isEightBit
            }
            probes.append(probe)
        }
        return probes
    }

    private static func transaction(for copy: MessageFlow.MessageCopy, isProbe: Bool = false) -> SMTPTransaction {
        SMTPTransaction(
            copy.envelope,
            content: SMTPTransaction.Content(size: copy.content.count, isEightBit: copy.isEightBit),
            isProbe: isProbe
        )
    }

    /// Calls `then` when the next transaction may begin. If there is a next transaction, the recipients served so far are
    /// recorded first.
    func prepareNext(_ then: @escaping () -> Void) {
        guard !result.served.isEmpty, place < copies.count, result.served.count > recordedCount else {
            return then()
        }
        let new = Array(result.served.dropFirst(recordedCount))
        recordedCount = result.served.count
        delivery.record(new, then)
    }

    /// The next transaction; nil when all are done, in which case the result is reported to the delivery.
    func next() -> SMTPTransaction? {
        if isProbing, place == probes.count { (place, isProbing) = (0, false) }
        if isProbing { return probes[place] }
        return reportsEnd() ? nil : Self.transaction(for: copies[place])
    }

    /// Reports the result to the delivery if no transaction is left; returns whether that is so.
    func reportsEnd() -> Bool {
        guard !isProbing, place >= copies.count else { return false }
        delivery.done(result)
        return true
    }

    /// The content of the current transaction.
    var content: WorkerContent { copies[place].content }

    /// A piece of the current content, which is spooled.
    func bytes(in range: Range<Int>) throws -> ByteBuffer { try delivery.slot.copyBytes(in: range) }

    /// Records that the next hop accepted the current copy.
    func accepted(_ reply: SMTPReply) {
        result.served += copies[place].envelope.recipients.map(\.address)
        if let name = Self.name(in: reply.text) { result.names.append(name) }
        result.replies.append(Self.logged(reply))
        place += 1
    }

    /// Records that the next hop accepts the recipients of the current probe.
    func probed() { place += 1 }

    /// Records that the next hop refused the current copy or probe.
    func refused(_ refusals: [SMTPRefusal]) {
        if isProbing, probes.count < copies.count {
            // The next hop may accept only fewer recipients, or only those of one domain, in one transaction.
            (probes, place) = (copies.map { Self.transaction(for: $0, isProbe: true) }, 0)
            return
        }
        let refusal = refusals.first(where: \.reply.isPermanent) ?? refusals.first
        note(refusal.map { reply(to: $0) } ?? SMTPReply(451, "4.4.0", text: "refused"))
        // A refusal while probing ends the delivery before any content is sent. A later one ends only the current copy.
        place = isProbing ? copies.count : place + 1
        isProbing = false
    }

    /// The reply for a refusal. All recipients get it, so it names the one that was refused.
    private func reply(to refusal: SMTPRefusal) -> SMTPReply {
        let recipients = (isProbing ? probes[place] : Self.transaction(for: copies[place])).envelope.recipients
        guard case .recipient(let index) = refusal.subject, recipients.indices.contains(index),
            recipients.count > 1 || copies.count > 1, !refusal.reply.text.contains(recipients[index].address)
        else { return refusal.reply }
        let text = "\(recipients[index].address): \(refusal.reply.text)"
        return SMTPReply(refusal.reply.code, refusal.reply.enhancedCode, text: text)
    }

    /// Ends the delivery, because nothing more can be sent.
    func fail(_ reply: SMTPReply, _ failure: SMTPConnectionFailure) {
        note(reply)
        result.reason = result.reason ?? failure.reason
        result.isUnknown = failure.outcome == .unknown
        delivery.done(result)
    }

    /// Records a failed copy. A permanent failure of one copy is a permanent failure of the message.
    private func note(_ reply: SMTPReply) {
        let reply = reply.passedOn
        guard result.failure?.isPermanent != true else { return }
        if reply.isPermanent || result.failure == nil { result.failure = reply }
    }

    /// The reply as an item of a list in the log: the first 200 characters, with commas escaped.
    static func logged(_ reply: SMTPReply) -> String {
        String(reply.description.prefix(200)).replacing(",", with: "%2C")
    }

    /// The next hop's queue id in a reply such as `Ok: queued as 4XyZ`, Exim's `OK id=1rK-0001`, or OpenSMTPD's and
    /// Sendmail's `4f1c2a3b Message accepted for delivery`; nil if there is none.
    static func name(in text: String) -> String? {
        func isPart(_ character: Character) -> Bool {
            character.isASCII && (character.isLetter || character.isNumber || character == "-")
        }
        let rests = ["queued as ", "id="].compactMap { text.range(of: $0) }.map { text[$0.upperBound...] }
        let names =
            rests.map { $0.prefix(while: isPart) }
            + (text.hasSuffix(" Message accepted for delivery") ? [text.prefix(while: isPart)] : [])
        return names.first { !$0.isEmpty && $0.count <= 64 }.map(String.init)
    }
}

/// The mail server that receives finished messages, and the open connections to it.
///
/// Everything here runs on the event loop.
final class NextHop {
    struct Settings {
        let address: SocketName
        /// The name of this host for EHLO.
        let hostName: String
        /// The maximum number of idle connections that are kept open.
        var maximumIdle = 16
        /// The time for which an idle connection is kept open. Mail servers keep it open longer, even Postfix under load
        /// (`smtpd_timeout`: 10 seconds).
        var idleTime = Duration.seconds(9)
        var connectTime = TimeAmount.seconds(10)
    }

    let settings: Settings
    private let loop: any EventLoop
    private var idle: [NextHopConnection] = []

    init(_ settings: Settings, on loop: any EventLoop) {
        self.settings = settings
        self.loop = loop
    }

    /// Sends the copies of `delivery` one after the other over one connection, and reports the result to `delivery`.
    func deliver(_ delivery: MessageFlow.PendingDelivery) { run(NextHopDelivery(delivery)) }

    /// Closes the idle connections.
    func close() {
        let idle = idle
        self.idle = []
        for connection in idle { connection.quit() }
    }

    private func run(_ delivery: NextHopDelivery) {
        if let connection = idle.popLast() { return connection.run(delivery, isFresh: false) }
        connect(delivery)
    }

    private func connect(_ delivery: NextHopDelivery) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(settings.connectTime)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NextHopConnection(bound.value, channel))
                }
            }
        let connected =
            switch settings.address {
            case .tcp(let host, let port): bootstrap.connect(host: host, port: port)
            case .unix(let path): bootstrap.connect(unixDomainSocketPath: path)
            case .passed: loop.makeFailedFuture(ChannelError.unknownLocalAddress) as EventLoopFuture<any Channel>
            }
        connected.assumeIsolated().whenComplete { result in
            do {
                let channel = try result.get()
                try channel.pipeline.syncOperations.handler(type: NextHopConnection.self).run(delivery, isFresh: true)
            } catch {
                let reply = SMTPReply(451, "4.4.1", text: "the mail server behind the gateway cannot be reached")
                let reason = "\(bound.value.settings.address): \(Self.reason(of: error))"
                delivery.fail(reply, SMTPConnectionFailure(.notTaken, reason))
            }
        }
    }

    /// The reason that a connection or a listener failed: the system's message, if there is one.
    static func reason(of error: any Error) -> String {
        let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
        switch cause {
        case SocketAddressError.unknown(let host, _): return "\(host) has no address"
        case let error as NIOConnectionError: return "\(error.host) has no address"
        default: break
        }
        return (cause as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(cause)"
    }

    /// Keeps the connection `connection` for the next message, or ends it if `Settings.maximumIdle` others are idle.
    func becameIdle(_ connection: NextHopConnection) {
        guard idle.count < settings.maximumIdle else { return connection.quit() }
        idle.append(connection)
    }

    /// Removes the connection `connection`, which has ended.
    func ended(_ connection: NextHopConnection) { idle.removeAll { $0 === connection } }

    /// Delivers over a new connection, because the old one cannot be used any more.
    func deliverOverNewConnection(_ delivery: NextHopDelivery) { connect(delivery) }
}
