package import NIOCore

/// What all listeners share. Everything here happens on the event loop.
package final class GatewayCore {
    package struct Settings {
        /// How long a message waits for a place.
        package var admissionTime = TimeAmount.seconds(60)
        /// How long a message may take from its end to the reply: less than mail servers wait (600 seconds; RFC 5321 §4.5.3.2.6,
        /// Postfix's `lmtp_data_done_timeout`).
        package var replyTime = TimeAmount.seconds(540)

        package init() {}
    }

    let loop: any EventLoop
    let settings: Settings
    let pool: WorkerPool
    let slots: MessageSlots
    let connections: Connections
    let claims = MessageClaims()
    var metrics = ServerMetrics()
    /// Whether no new messages are taken.
    var isStopping = false
    private let logging: (MessageLog, ServerMetrics.Result) -> Void
    private let warn: (String) -> Void
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
        self.logging = logging
        self.warn = warn
    }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Logs that `listener` refused the client of `channel`, in cases that no message's line covers.
    func warn(_ listener: Endpoint, _ channel: any Channel, reason: String) {
        let address = channel.remoteAddress
        let peer = address?.ipAddress.map { "\($0) port \(address?.port ?? 0)" } ?? "a client"
        warn("\(listener): \(peer): \(reason)")
    }

    func write(_ log: MessageLog, status: ServerMetrics.Result) { logging(log, status) }
}
