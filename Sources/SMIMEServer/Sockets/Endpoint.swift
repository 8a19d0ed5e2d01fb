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
