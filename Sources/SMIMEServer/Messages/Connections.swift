import NIOCore

/// A connection of a mail server to a listener of this service.
protocol ListenerConnection: AnyObject {
    /// Ends the connection as soon as no message is in flight.
    func drain()
    /// Ends the connection now. A client that waits for a reply gets a temporary failure.
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
