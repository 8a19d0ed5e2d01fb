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
