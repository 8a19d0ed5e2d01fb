/// An http URL as it stands in a certificate, taken apart; nothing in it can add to a request.
///
/// RFC 9110 §4.2.1. What is revoked or not is signed, so http is enough (RFC 5280 §8), and https would have to ask the
/// same question about its own certificate.
package struct ServiceURL: Hashable, Sendable {
    /// A name or an address, without brackets.
    package let host: String
    /// The port, 80 if the URL names none.
    package let port: UInt16
    /// The path with its query, beginning with a slash.
    package let path: String

    /// The longest URL that is read, in bytes.
    static let maximumCount = 2048

    /// Nil unless `text` is a plain http URL without a user, of printable ASCII.
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

    /// Host and port of an authority; nil if it has a user, or is none.
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

    /// The host and its port, as in `crl.example.org:80`: where one service lies that may have many URLs.
    package var service: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)".lowercased() }

    /// The host as a request names it.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 80 ? name : "\(name):\(port)"
    }
}

extension ServiceURL: CustomStringConvertible {
    package var description: String { "http://\(authority)\(path)" }
}
