/// A listener of `smime serve`, in the form that the options of the service use: `ROLE=SCHEME:ADDRESS`.
package struct ServeListener: Equatable, Sendable {
    /// Whether the listener takes mail from this host's users (outgoing) or for them (incoming).
    let direction: PostfixConfiguration.Direction
    /// The listener as the option gives it.
    let text: String
    /// `unix:PATH`, `fd:NAME`, or a host and a port in the form of `address(_:)`.
    let address: String

    /// Whether the listener is a TCP port, to which every user of the host can connect.
    var isTCP: Bool { Self.isTCP(address) }

    /// The file with the options of the systemd unit.
    package static let optionsFile = "/etc/smime/serve.conf"

    /// The listeners in the options of the service.
    ///
    /// - Parameter options: a file as systemd.exec(5) reads it for `EnvironmentFile=`, or a command line. Comments are
    ///   ignored.
    package static func all(in options: String) -> [ServeListener] { all(named: "--listen", in: options) }

    /// The next hops in the options of the service, in the same form.
    package static func nextHops(in options: String) -> [ServeListener] { all(named: "--next-hop", in: options) }

    private static func all(named option: String, in options: String) -> [ServeListener] {
        let lines = options.split(whereSeparator: \.isNewline).filter { line in
            line.first { !$0.isWhitespace }.map { !"#;".contains($0) } ?? false
        }
        let words = lines.flatMap { $0.split { $0.isWhitespace || "\"'\\".contains($0) } }.map(String.init)
        return words.indices.compactMap { place in
            // The first option may follow the variable's name directly.
            let word = words[place].hasPrefix("SERVE_OPTIONS=") ? String(words[place].dropFirst(14)) : words[place]
            if word == option, place + 1 < words.count { return ServeListener(words[place + 1]) }
            return word.hasPrefix("\(option)=") ? ServeListener(String(word.dropFirst(option.count + 1))) : nil
        }
    }

    /// Reads a text such as `outgoing=lmtp:unix:/run/smime/outgoing`; nil if `text` is not a listener.
    private init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, let direction = PostfixConfiguration.Direction(rawValue: parts[0]),
            let colon = parts[1].firstIndex(of: ":")
        else { return nil }
        self.direction = direction
        self.text = text
        address = Self.address(String(parts[1][parts[1].index(after: colon)...]))
    }

    /// `text`, an address as Postfix or the service writes it, in one common form: `inet:localhost:10025` and
    /// `[127.0.0.1]:10025` become equal.
    static func address(_ text: String) -> String {
        let rest = text.hasPrefix("inet:") ? String(text.dropFirst(5)) : text
        guard isTCP(rest) else { return rest }
        let plain = rest.filter { !"[]".contains($0) }.lowercased()
        return plain.hasPrefix("localhost:") ? "127.0.0.1\(plain.dropFirst(9))" : plain
    }

    private static func isTCP(_ address: String) -> Bool { !address.hasPrefix("unix:") && !address.hasPrefix("fd:") }
}
