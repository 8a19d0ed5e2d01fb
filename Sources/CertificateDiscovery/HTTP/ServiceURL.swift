/// An http URL from a certificate, divided into parts that cannot inject anything into a request.
///
/// http is sufficient because revocation data is signed (RFC 5280 §8). https would require checking the revocation of the
/// server's own certificate. RFC 9110 §4.2.1
package struct ServiceURL: Hashable, Sendable {
    /// A host name or an IP address, without brackets.
    package let host: String
    /// The port; 80 if the URL contains none.
    package let port: UInt16
    /// The path and query, beginning with a slash.
    package let path: String

    /// The maximum length of a URL in bytes.
    static let maximumCount = 2048

    /// Returns nil unless `text` is an http URL of printable ASCII without user information.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumCount, bytes.allSatisfy({ (0x21...0x7E).contains($0) }),
            text.lowercased().hasPrefix("http://")
        else { return nil }
        let rest = text.dropFirst("http://".count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        guard let (host, port) = Self.parts(of: rest[..<end]) else { return nil }
        let path = rest[end...].prefix { $0 != "#" }
        (self.host, self.port, self.path) = (host, port, path.hasPrefix("/") ? String(path) : "/\(path)")
    }

    /// The host and the port in the URL's authority part; nil if that part is malformed or contains user information.
    private static func parts(of authority: Substring) -> (host: String, port: UInt16)? {
        var host = authority
        var port: UInt16 = 80
        let isBracketed = authority.hasPrefix("[")
        if let colon = authority.lastIndex(of: ":"), !isBracketed || authority[..<colon].hasSuffix("]") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.isEmpty || digits.allSatisfy(\.isNumber), let number = UInt16(digits.isEmpty ? "80" : digits),
                number > 0
            else { return nil }
            (host, port) = (authority[..<colon], number)
        }
        if isBracketed {
            guard host.hasSuffix("]") else { return nil }
            host = host.dropFirst().dropLast()
            guard !host.isEmpty, host.allSatisfy({ $0.isHexDigit || ":.".contains($0) }) else { return nil }
        } else {
            guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || "-._".contains($0) }) else {
                return nil
            }
        }
        return (String(host), port)
    }

    /// The host and the port, such as `crl.example.org:80`. This text identifies a service, which may have many URLs.
    package var service: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)".lowercased() }

    /// The host and the port, in the form of the Host header field.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 80 ? name : "\(name):\(port)"
    }
}

extension ServiceURL: CustomStringConvertible {
    package var description: String { "http://\(authority)\(path)" }
}
