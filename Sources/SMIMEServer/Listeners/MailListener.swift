import NIOCore
import NIOPosix
import SMIMEGateway

/// Opens the listeners for mail servers.
struct MailListener {
    let core: GatewayCore
    let settings: ServerSettings
    /// The sockets that systemd opened.
    let passed: [(name: String, descriptor: Int32)]

    /// The owner and the group may connect to a unix socket.
    private static let mode: mode_t = 0o660

    private static let allocator = AdaptiveRecvByteBufferAllocator(
        minimum: 8 << 10,
        initial: 8 << 10,
        maximum: 64 << 10
    )

    /// Opens a listener at `endpoint`.
    ///
    /// - Parameter nextHop: the server that receives finished messages; nil for a milter without one.
    func bind(_ endpoint: Endpoint, to nextHop: NextHop?) -> EventLoopFuture<any Channel> {
        let (core, settings) = (core, settings)
        let makeHandler = { (channel: any Channel) -> any ChannelHandler in
            switch endpoint.scheme {
            case .milter:
                let milter = MilterSettings(maximumSize: settings.maximumSize, nextHop: nextHop)
                return MilterConnection(core, endpoint, settings: milter, channel: channel)
            case .smtp, .lmtp:
                return SMTPConnection(core, endpoint, settings: Self.session(endpoint, settings), channel: channel) {
                    nextHop?.deliver($0)
                }
            }
        }
        let refuse = { (channel: any Channel) in
            core.metrics.refusedConnections += 1
            core.warn(endpoint, channel, reason: "is not allowed to connect (--allow)")
        }
        let bound = NIOLoopBound((make: makeHandler, refuse: refuse), eventLoop: core.loop)
        return SocketBinder.bind(endpoint.socket, on: core.loop, mode: Self.mode, passed: passed) { channel in
            channel.eventLoop.makeCompletedFuture {
                guard NetworkRange.isAllowed(channel.remoteAddress?.ipAddress, by: settings.allowed) else {
                    bound.value.refuse(channel)
                    throw SocketError.notAllowed("\(channel.remoteAddress.map { "\($0)" } ?? "unknown")")
                }
                // Input is read only when the session is ready for it.
                try channel.syncOptions?.setOption(.autoRead, value: false)
                // A buffer of this size holds a message of usual size with its signature, so one system call reads it.
                try channel.syncOptions?.setOption(.recvAllocator, value: Self.allocator)
                // An SMTP client may close its side of the connection before it receives the reply.
                if endpoint.scheme != .milter {
                    try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
                }
                if channel.remoteAddress?.ipAddress != nil {
                    try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1)
                }
                try channel.pipeline.syncOperations.addHandler(bound.value.make(channel))
            }
        }
    }

    private static func session(_ endpoint: Endpoint, _ settings: ServerSettings) -> SMTPServerSession.Settings {
        var session = SMTPServerSession.Settings(
            dialect: endpoint.scheme == .lmtp ? .lmtp : .smtp,
            hostName: settings.hostName,
            maximumSize: settings.maximumSize
        )
        // The clients are mail servers. They report their queue ids with XFORWARD.
        session.offersXFORWARD = true
        return session
    }
}

/// The settings that all connections of a milter listener share.
struct MilterSettings {
    /// The maximum size of a message in bytes.
    let maximumSize: Int
    /// The server that gets all copies of a message except the one that replaces the message; nil if there is none.
    let nextHop: NextHop?
}
