import Foundation
import Testing

/// A stream socket that is read and written in lines, as in SMTP.
final class LineSocket {
    private let descriptor: Int32
    private var unread: [UInt8] = []

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Connects to the unix socket `path`.
    convenience init(to path: String) throws {
        let descriptor = socket(AF_UNIX, Self.kind, 0)
        let result = Self.withAddress(path) { connect(descriptor, $0, $1) }
        try self.init(descriptor, result, name: path)
    }

    /// Connects to the TCP port `port` of this host.
    convenience init(toPort port: Int) throws {
        let descriptor = socket(AF_INET, Self.kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try self.init(descriptor, result, name: "port \(port)")
    }

    /// - Parameter result: the result of connect(2).
    private convenience init(_ descriptor: Int32, _ result: Int32, name: String) throws {
        self.init(descriptor)
        try #require(result == 0, "\(name): \(String(cString: strerror(errno)))")
        // A test that waits forever would report nothing.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Ends the connection, even if a process that another test starts now has inherited the descriptor.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Waits until there is something to read.
    func waitForInput() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, 120_000)
    }

    deinit { close(descriptor) }

    /// Listens on the unix socket `path`.
    static func listen(on path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, kind, 0)
        let result = withAddress(path) { bind(descriptor, $0, $1) }
        try #require(result == 0 && Foundation.listen(descriptor, 64) == 0, "\(path): \(errno)")
        return descriptor
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// The next line without its end; nil at the end.
    func line() -> [UInt8]? {
        while true {
            if let end = unread.firstIndex(of: 10) {
                let line = unread[..<end]
                unread.removeSubrange(...end)
                return Array(line.last == 13 ? line.dropLast() : line)
            }
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(descriptor, &bytes, bytes.count)
            guard count > 0 else { return nil }
            unread += bytes[..<count]
        }
    }

    /// The next SMTP reply, with its lines separated by line feeds; empty at the end.
    func reply() -> String {
        var lines: [String] = []
        while let line = line().map({ String(decoding: $0, as: UTF8.self) }) {
            lines.append(line)
            if line.dropFirst(3).first != "-" { break }
        }
        return lines.joined(separator: "\n")
    }

    /// Sends a command and returns its reply.
    func ask(_ command: String) -> String {
        send(command + "\r\n")
        return reply()
    }

    private static func withAddress<R>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static var kind: Int32 {
        #if os(Linux)
        Int32(SOCK_STREAM.rawValue)
        #else
        SOCK_STREAM
        #endif
    }
}
