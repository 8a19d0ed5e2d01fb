import NIOCore

/// A connection of a mail server to a listener of this service.
protocol ListenerConnection: AnyObject {
    /// Ends the connection as soon as no message is in flight.
    func drain()
    /// Ends the connection now. An SMTP or LMTP client gets 421; a milter connection is closed without a verdict.
    func stop()
}

/// The open connections. Everything here runs on the event loop.
package final class Connections {
    private var all: [ObjectIdentifier: any ListenerConnection] = [:]
    private var waiting: [() -> Void] = []
    /// The maximum number of connections.
    let maximum: Int

    package init(maximum: Int) { self.maximum = maximum }

    var count: Int { all.count }
    var isFull: Bool { all.count >= maximum }

    func add(_ connection: any ListenerConnection) { all[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: any ListenerConnection) {
        all[ObjectIdentifier(connection)] = nil
        guard all.isEmpty else { return }
        let waiting = waiting
        self.waiting = []
        for call in waiting { call() }
    }

    /// Lets every connection end after its current message, and calls `done` when all have ended.
    func drain(_ done: @escaping () -> Void) {
        guard !all.isEmpty else { return done() }
        waiting.append(done)
        for connection in Array(all.values) { connection.drain() }
    }

    /// Ends all connections now.
    func stopAll() { for connection in Array(all.values) { connection.stop() } }
}

/// Limits the memory for the envelopes that are being received on all connections together, so that many clients with many
/// recipients cannot exhaust the memory. On milter connections the headers count, too. Everything here runs on the event
/// loop.
final class EnvelopeBudget {
    /// The size in bytes that every connection may always use: enough for a usual envelope.
    static let assured = 16 << 10

    /// The memory that one connection uses.
    struct Share {
        fileprivate var size = 0

        /// Whether the connection uses more than `assured`.
        var exceedsAssured: Bool { size > EnvelopeBudget.assured }
    }

    private let maximum: Int
    private var used = 0

    /// - Parameter maximum: the number of bytes for all connections together, not counting the `assured` bytes of each
    ///   connection.
    init(maximum: Int) { self.maximum = maximum }

    /// Whether nothing is left.
    var isExhausted: Bool { used >= maximum }

    /// Changes a connection's share to `size` bytes. When the connection ends, the caller must set its share to 0.
    func set(_ share: inout Share, to size: Int) {
        used += max(size - Self.assured, 0) - max(share.size - Self.assured, 0)
        share.size = size
    }
}
