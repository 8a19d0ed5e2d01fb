import Foundation

/// Unix sockets in the runtime folder.
enum AgentSocket {
    /// How long each side waits for the other, in seconds. Both are on this host, which may be busy.
    private static let timeout = 10

    /// A socket that listens as `name` in `folder`; nil, with errno, if it cannot be created.
    static func listening(_ name: String, in folder: RuntimeFolder) -> Int32? {
        guard let socket = made() else { return nil }
        let isBound = withAddress(name, in: folder) { bind(socket, $0, $1) == 0 }
        guard isBound == true, listen(socket, 16) == 0 else { return closed(socket, code: errno) }
        return socket
    }

    /// A socket connected to `name` in `folder`, where a program of this user listens; nil, with errno, if there is no
    /// such program.
    static func connected(_ name: String, in folder: RuntimeFolder) -> Int32? {
        guard let socket = made() else { return nil }
        let isConnected = withAddress(name, in: folder) { connect(socket, $0, $1) == 0 }
        guard isConnected == true else { return closed(socket, code: errno) }
        guard peer(of: socket) == geteuid() else { return closed(socket, code: EACCES) }
        return socket
    }

    /// The connection of the next program; nil if none is waiting.
    static func accepted(from socket: Int32) -> Int32? {
        let descriptor = accept(socket, nil, nil)
        guard descriptor >= 0 else { return nil }
        limit(descriptor)
        return descriptor
    }

    /// The user of the program at the other end, as of connecting or listening; nil if the system does not report it.
    ///
    /// unix(7), `SO_PEERCRED`
    static func peer(of socket: Int32) -> uid_t? {
        #if os(Linux)
        // struct ucred: pid, uid, gid.
        var credentials: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
            length == MemoryLayout.size(ofValue: credentials)
        else { return nil }
        return credentials.1
        #else
        var (user, group) = (uid_t(), gid_t())
        return getpeereid(socket, &user, &group) == 0 ? user : nil
        #endif
    }

    /// Closes `socket`, and sets errno to `code`.
    private static func closed(_ socket: Int32, code: Int32) -> Int32? {
        close(socket)
        errno = code
        return nil
    }

    private static func made() -> Int32? {
        #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        limit(descriptor)
        return descriptor
    }

    private static func limit(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var time = timeval(tv_sec: timeout, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Passes to the closure the address of `name` relative to the open directory: the path of the directory may be too
    /// long for an address, and another directory may replace it.
    ///
    /// - Returns: nil, with errno, if there is no directory to which only this user has access.
    private static func withAddress<Value>(
        _ name: String,
        in folder: RuntimeFolder,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value? {
        guard let descriptor = folder.opened() else { return nil }
        defer { close(descriptor) }
        #if os(Linux)
        let path = Array("/proc/self/fd/\(descriptor)/\(name)".utf8)
        #else
        let path = Array("\(folder.path)/\(name)".utf8)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isWritten = withUnsafeMutableBytes(of: &address.sun_path) { target in
            guard path.count < target.count else { return false }
            target.copyBytes(from: path)
            return true
        }
        guard isWritten else {
            errno = ENAMETOOLONG
            return nil
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
