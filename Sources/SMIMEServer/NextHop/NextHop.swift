import Foundation
import NIOCore
import NIOPosix

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
        /// The time for which an idle connection is kept open. Mail servers under load wait longer (10 seconds, Postfix's
        /// `smtpd_timeout`).
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

    /// The system's message for a failed connection or listener.
    static func reason(of error: any Error) -> String {
        let cause = (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
        switch cause {
        case SocketAddressError.unknown(let host, _): return "\(host) has no address"
        case let error as NIOConnectionError: return "\(error.host) has no address"
        default: break
        }
        return (cause as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(cause)"
    }

    /// Keeps the connection `connection` for the next message.
    func becameIdle(_ connection: NextHopConnection) {
        guard idle.count < settings.maximumIdle else { return connection.quit() }
        idle.append(connection)
    }

    /// Removes the connection `connection`, which has ended.
    func ended(_ connection: NextHopConnection) { idle.removeAll { $0 === connection } }

    /// Delivers over a new connection, because the old one cannot be used any more.
    func runAnew(_ delivery: NextHopDelivery) { connect(delivery) }
}
