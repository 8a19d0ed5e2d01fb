import Foundation
import Synchronization

/// An HTTP server on loopback that gives the answers chosen by the test, right or wrong.
public final class LoopbackServer: Sendable {
    /// The answer to a connection.
    public enum Reply: Sendable {
        /// These bytes, followed by the end of the connection.
        case bytes([UInt8])
        /// These bytes, and then no more; the connection stays open.
        case bytesThenSilence([UInt8])
        /// An endless sequence of header lines.
        case endlessHeader
        /// That many zero bytes, in what claims to be one DER element.
        case flood(Int)
        /// No answer, and the connection stays open.
        case silence
        /// One byte of a header every 50 milliseconds.
        case trickle

        /// An answer with status 200.
        public static func ok(_ body: [UInt8], type: String = "application/pkix-crl") -> Reply {
            let head = "HTTP/1.0 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"
            return .bytes(Array(head.utf8) + body)
        }
    }

    public let port: UInt16
    private let listener: CInt
    private let requests = Mutex<[String]>([])

    /// The first lines of the requests so far.
    public var asked: [String] { requests.withLock { $0 } }

    public convenience init(_ reply: @escaping @Sendable (_ path: String) -> Reply) throws {
        try self.init(backlog: 16) { request in reply(Self.path(in: request)) }
    }

    /// A server of another protocol, which answers the first request of each connection.
    public static func answering(
        _ reply: @escaping @Sendable (_ request: [UInt8]) -> Reply
    ) throws -> LoopbackServer { try LoopbackServer(backlog: 16, reply) }

    private init(backlog: CInt, _ reply: @escaping @Sendable (_ request: [UInt8]) -> Reply) throws {
        _ = signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
            guard let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return bind(listener, pointer, length) == 0 && listen(listener, backlog) == 0
                && getsockname(listener, pointer, &length) == 0
        }
        guard isBound else { throw CocoaError(.featureUnsupported) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread { [self] in
            while case let peer = accept(listener, nil, nil), peer >= 0 {
                Thread { [self] in serve(peer, reply) }.start()
            }
            close(listener)
        }.start()
    }

    /// Refuses further connections. A server that is not stopped listens until the process ends.
    public func stop() { shutdown(listener, CInt(SHUT_RDWR)) }

    /// The URL of `path` on this server.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    private static func line(in request: [UInt8]) -> String {
        String(decoding: request.prefix { $0 != 13 }, as: UTF8.self)
    }

    private static func path(in request: [UInt8]) -> String {
        line(in: request).split(separator: " ").dropFirst().first.map { String($0.dropFirst()) } ?? ""
    }

    private func serve(_ peer: CInt, _ reply: ([UInt8]) -> Reply) {
        defer { close(peer) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = read(peer, &bytes, bytes.count)
        guard count > 0 else { return }
        let request = Array(bytes[..<count])
        requests.withLock { $0.append(Self.line(in: request)) }
        switch reply(request) {
        case .bytes(let answer): _ = Self.send(answer, to: peer)
        case .bytesThenSilence(let answer):
            guard Self.send(answer, to: peer) else { return }
            while read(peer, &bytes, bytes.count) > 0 {}
        case .endlessHeader:
            while Self.send(Array("X-Filler: and so on\r\n".utf8), to: peer) {}
        case .flood(let count):
            let length = withUnsafeBytes(of: UInt32(count).bigEndian, Array.init)
            let head = "HTTP/1.0 200 OK\r\nContent-Type: application/pkix-crl\r\n\r\n"
            guard Self.send(Array(head.utf8) + [0x30, 0x84] + length, to: peer) else { return }
            let block = [UInt8](repeating: 0, count: 1 << 16)
            for _ in 0..<(count >> 16) where !Self.send(block, to: peer) { return }
        case .silence: _ = read(peer, &bytes, bytes.count)
        case .trickle:
            while Self.send([0x58], to: peer) { usleep(50_000) }
        }
    }

    private static func send(_ bytes: [UInt8], to peer: CInt) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(peer, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
