import Foundation
package import SMIMEGateway

/// The protocol of a listener or of a next hop.
package enum MailProtocol: String, CaseIterable, Sendable {
    /// RFC 2033
    case lmtp
    /// RFC 5321
    case smtp
    /// The protocol of Sendmail's libmilter, which Postfix supports, too.
    case milter
}

/// A listener or a next hop as written on the command line: `ROLE=SCHEME:ADDRESS`.
package struct Endpoint: Hashable, Sendable {
    package let role: GatewayRole
    package let scheme: MailProtocol
    package let socket: SocketName

    package init(role: GatewayRole, scheme: MailProtocol, socket: SocketName) {
        self.role = role
        self.scheme = scheme
        self.socket = socket
    }

    /// Parses a text such as `outgoing=lmtp:127.0.0.1:10025` or `incoming=milter:unix:/run/smime/in`; nil for anything else.
    package init?(_ text: String) {
        guard let equals = text.firstIndex(of: "="), let role = GatewayRole(rawValue: String(text[..<equals])) else {
            return nil
        }
        let rest = text[text.index(after: equals)...]
        guard let colon = rest.firstIndex(of: ":"), let scheme = MailProtocol(rawValue: String(rest[..<colon])),
            let socket = SocketName(String(rest[rest.index(after: colon)...]))
        else { return nil }
        self.init(role: role, scheme: scheme, socket: socket)
    }
}

extension Endpoint: CustomStringConvertible {
    /// The text from which `init` creates the same endpoint.
    package var description: String { "\(role.rawValue)=\(scheme.rawValue):\(socket)" }
}

/// The address of a listener or of a next hop.
package enum SocketName: Hashable, Sendable {
    /// A host name or IP address, and a TCP port.
    case tcp(host: String, port: Int)
    /// The path of a unix socket.
    case unix(path: String)
    /// A socket that systemd opened and passed to the service, by its name (`FileDescriptorName=` of systemd.socket(5)).
    case passed(name: String)

    /// Parses `HOST:PORT`, `[IPV6]:PORT`, `unix:PATH` or `fd:NAME`; nil for anything else.
    package init?(_ text: String) {
        if let path = text.dropping("unix:") {
            // The path and its terminating zero byte must fit into 108 bytes (unix(7)).
            guard !path.isEmpty, path.utf8.count < 108, !path.utf8.contains(0) else { return nil }
            self = .unix(path: path)
        } else if let name = text.dropping("fd:") {
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && !$0.isWhitespace && $0 != ":" }) else { return nil }
            self = .passed(name: name)
        } else {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
            else { return nil }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = String(host.dropFirst().dropLast())
            } else if host.contains(":") {
                return nil
            }
            guard !host.isEmpty else { return nil }
            self = .tcp(host: host, port: Int(port))
        }
    }
}

extension SocketName: CustomStringConvertible {
    /// The text from which `init` creates the same name.
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .passed(let name): "fd:\(name)"
        }
    }
}

extension String {
    /// The rest after `prefix`; nil if the text does not begin with `prefix`.
    func dropping(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}

/// A range of IP addresses, such as `192.0.2.0/24` or `2001:db8::/32`.
package struct NetworkRange: Hashable, Sendable {
    private let bytes: [UInt8]
    private let prefix: Int

    /// Parses an address with an optional prefix length; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = Self.bytes(of: String(first)) else { return nil }
        self.bytes = bytes
        guard parts.count == 2 else {
            prefix = bytes.count * 8
            return
        }
        guard let prefix = Int(parts[1]), 0...bytes.count * 8 ~= prefix else { return nil }
        self.prefix = prefix
    }

    /// Whether the address `host` is in the range. An IPv4 address in the form of an IPv6 address (RFC 4291 §2.5.5.2) counts
    /// as the IPv4 address.
    package func contains(_ host: String) -> Bool {
        guard let other = Self.bytes(of: host), other.count == bytes.count else { return false }
        let whole = prefix / 8
        guard bytes.prefix(whole) == other.prefix(whole) else { return false }
        let rest = prefix % 8
        return rest == 0 || (bytes[whole] ^ other[whole]) >> (8 - rest) == 0
    }

    /// Whether a client with the IP address `address` may connect: from a loopback address, or from a network in `allowed`.
    /// The address is nil for a client of a unix socket, which may always connect.
    static func isAllowed(_ address: String?, by allowed: [NetworkRange]) -> Bool {
        guard let address else { return true }
        return isLoopback(address) || allowed.contains { $0.contains(address) }
    }

    /// Whether `host` is `localhost` or a loopback address, which other machines cannot reach.
    package static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || loopback.contains { $0.contains(host) }
    }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap { NetworkRange($0) }
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    private static func bytes(of host: String) -> [UInt8]? {
        // The addresses are compared as bytes, because the C types of addresses are imported from different modules.
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, host, &bytes) == 1 { return Array(bytes.prefix(4)) }
        guard inet_pton(AF_INET6, host, &bytes) == 1 else { return nil }
        return bytes.starts(with: mapped) ? Array(bytes.dropFirst(mapped.count)) : bytes
    }
}
