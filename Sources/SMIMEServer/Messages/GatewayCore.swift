package import NIOCore
import SMIMEGateway

/// The state that all listeners share. Everything here runs on the event loop.
package final class GatewayCore {
    /// The time limits for messages.
    package struct Settings {
        /// The maximum time that a message waits for a slot.
        package var admissionTime = TimeAmount.seconds(60)
        /// The maximum time from the end of a message to the reply. Mail servers wait longer (600 seconds; RFC 5321
        /// §4.5.3.2.6, Postfix's `lmtp_data_done_timeout`).
        package var replyTime = TimeAmount.seconds(540)

        package init() {}
    }

    let loop: any EventLoop
    let settings: Settings
    let pool: WorkerPool
    let slots: MessageSlots
    let connections: Connections
    let envelopes: EnvelopeBudget
    let claims = MessageClaims()
    package internal(set) var metrics = ServerMetrics()
    /// The largest change counter of the store that any worker has read. Each worker gets it with its next message, so that
    /// its cache does not use an older state of the store.
    var changeCount: Int64 = 0
    /// Whether new messages are refused because the service is stopping.
    var isStopping = false
    private let logging: (MessageLog, ServerMetrics.Result) -> Void
    let warn: (String) -> Void
    private var lastNumber: UInt64 = 0

    package init(
        loop: any EventLoop,
        settings: Settings = Settings(),
        pool: WorkerPool,
        slots: MessageSlots,
        connections: Connections,
        logging: @escaping (MessageLog, ServerMetrics.Result) -> Void,
        warn: @escaping (String) -> Void
    ) {
        self.loop = loop
        self.settings = settings
        self.pool = pool
        self.slots = slots
        self.connections = connections
        // 1 MiB for each slot. The copies of a message in a frame have the same limit (`CopyWriter`).
        envelopes = EnvelopeBudget(maximum: slots.count << 20)
        self.logging = logging
        self.warn = warn
    }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Logs that `listener` refused or ended the connection `channel`. Call this only if no log entry of a message says
    /// so.
    func warn(_ listener: Endpoint, _ channel: any Channel, reason: String) {
        let address = channel.remoteAddress
        let peer = address?.ipAddress.map { "\($0) port \(address?.port ?? 0)" } ?? "a client"
        warn("\(listener): \(peer): \(reason)")
    }

    /// Counts and logs a message that is answered before a worker gets it.
    func noteEarlyReply(_ envelope: SMTPEnvelope, role: GatewayRole, _ result: ServerMetrics.Result, reason: String) {
        metrics.countEarlyReply(role, result)
        var log = MessageLog(role: role)
        log.describe(envelope)
        log.fail(reason)
        write(log, status: result)
    }

    func write(_ log: MessageLog, status: ServerMetrics.Result) { logging(log, status) }
}

/// The journal names of the messages that are being handled. A second attempt to send a message waits for the first one.
///
/// A mail server that no longer waits for the reply tries again, possibly while the next hop still works on the first
/// attempt. When the first attempt has ended, its result is in the journal, and only then is the second attempt handled. The
/// claims of another service with the same store are not known here. Everything here runs on the event loop.
package final class MessageClaims {
    private struct Claimant {
        let number: UInt64
        let begin: () -> Void
    }

    private struct Claim {
        /// The messages that wait for the name.
        var waiting: [Claimant] = []
        /// Called once, when a message waits.
        var whenAwaited: (() -> Void)?
    }

    private var claims: [String: Claim] = [:]

    package init() {}

    /// Whether a message would have to wait for `name` although `limit` messages already wait for names. Each waiting message
    /// has a slot, so without this limit many copies of one message would make all other mail wait.
    package func isCrowded(_ name: String, limit: Int) -> Bool {
        claims[name] != nil && claims.values.reduce(0) { $0 + $1.waiting.count } >= limit
    }

    /// Calls `begin` when no other message claims `name`: now, or after the messages that asked earlier.
    package func acquire(_ name: String, for number: UInt64, _ begin: @escaping () -> Void) {
        guard claims[name] != nil else {
            claims[name] = Claim()
            return begin()
        }
        claims[name]?.waiting.append(Claimant(number: number, begin: begin))
        noteAwaited(name)
    }

    /// Calls `act` once, when another message waits for `name`: now or later, but only until the claim ends.
    package func whenAwaited(_ name: String, _ act: @escaping () -> Void) {
        claims[name]?.whenAwaited = act
        noteAwaited(name)
    }

    private func noteAwaited(_ name: String) {
        guard let claim = claims[name], !claim.waiting.isEmpty, let act = claim.whenAwaited else { return }
        claims[name]?.whenAwaited = nil
        act()
    }

    /// Removes the message with the number `number` from those that wait for `name`.
    package func withdraw(_ name: String, for number: UInt64) {
        claims[name]?.waiting.removeAll { $0.number == number }
    }

    /// Ends the claim to `name`: the message has ended, and its result is in the journal.
    package func release(_ name: String) {
        guard var claim = claims[name] else { return }
        guard !claim.waiting.isEmpty else {
            claims[name] = nil
            return
        }
        let next = claim.waiting.removeFirst()
        claim.whenAwaited = nil
        claims[name] = claim
        next.begin()
    }
}
