import Foundation
import NIOCore
import NIOPosix

/// Opens listening sockets.
enum SocketBinder {
    /// Opens a listening socket at `name`.
    ///
    /// A unix socket gets the mode `mode`, or 0600 if `mode` is nil. If the path is a socket on which no process listens, the
    /// socket is replaced. Anything else at the path is an error.
    ///
    /// - Parameters:
    ///   - passed: the sockets that systemd opened.
    ///   - initializer: sets up each connection.
    static func bind(
        _ name: SocketName,
        on loop: any EventLoop,
        mode: mode_t?,
        passed: [(name: String, descriptor: Int32)] = [],
        _ initializer: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let bootstrap = ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer(initializer)
        switch name {
        case .tcp(let host, let port): return bootstrap.bind(host: host, port: port)
        case .passed(let name):
            guard let socket = passed.first(where: { $0.name == name }) else {
                return loop.makeFailedFuture(SocketError.notPassed(name))
            }
            return bootstrap.withBoundSocket(socket.descriptor)
        case .unix(let path):
            if let obstacle = removeAbandoned(path) { return loop.makeFailedFuture(obstacle) }
            // Between bind(2) and chmod(2) only the owner can connect to the socket.
            let before = umask(0o177)
            let bound = bootstrap.bind(unixDomainSocketPath: path)
            bound.whenComplete { _ in umask(before) }
            return bound.flatMapThrowing { channel in
                guard let mode else { return channel }
                guard chmod(path, mode) == 0 else { throw SocketError.system(path, errno) }
                return channel
            }
        }
    }

    /// Removes the socket at `path` if no process listens on it. Returns nil if the path is then free; otherwise the error.
    private static func removeAbandoned(_ path: String) -> SocketError? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return errno == ENOENT ? nil : .system(path, errno) }
        guard status.st_mode & S_IFMT == S_IFSOCK else { return .notASocket(path) }
        guard !isListening(path) else { return .system(path, EADDRINUSE) }
        return unlink(path) == 0 ? nil : .system(path, errno)
    }

    private static func isListening(_ path: String) -> Bool {
        guard let address = try? SocketAddress(unixDomainSocketPath: path) else { return false }
        #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        return address.withSockAddr { connect(descriptor, $0, socklen_t($1)) == 0 || errno != ECONNREFUSED }
    }
}

/// The reason that a socket cannot be opened, or a connection is not accepted.
package enum SocketError: Error, Equatable, Sendable {
    /// The path is not a socket, so it is not removed.
    case notASocket(String)
    /// The client at this address is not allowed to connect.
    case notAllowed(String)
    /// systemd passed no socket with this name.
    case notPassed(String)
    /// The system's error for an address; the number is errno.
    case system(String, Int32)
}

extension SocketError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .notASocket(let path): "\(path) is not a socket"
        case .notAllowed(let address): "\(address) is not allowed to connect"
        case .notPassed(let name): "systemd passed no socket named \(name)"
        case .system(let name, let code): "\(name): \(String(cString: strerror(code)))"
        }
    }
}
