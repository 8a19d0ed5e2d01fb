/// Checks who can connect to `smime serve`.
struct DoctorServeCheck: DoctorCheck {
    let listeners: [ServeListener]
    var findings: [DoctorFinding] = []

    mutating func run() {
        for listener in listeners where listener.isTCP {
            add(
                "serve-tcp",
                .warning,
                text: "\(listener.text): \(Self.consequence(of: listener.direction))",
                remedies: [.advice("if the mail server can use a unix socket: \(Self.unixSocket(for: listener))")]
            )
        }
    }

    /// What a client that connects to a TCP port for mail of `direction` can do.
    static func consequence(of direction: PostfixConfiguration.Direction?) -> String {
        let reach = "every user and program of this host can connect to a TCP port"
        return switch direction {
        case .incoming: "\(reach), and may learn which changed copies of encrypted mail can be decrypted"
        case .outgoing, nil: "\(reach), and gets any account's signature there"
        }
    }

    private static func unixSocket(for listener: ServeListener) -> String {
        let scheme = listener.text.drop { $0 != "=" }.dropFirst().prefix { $0 != ":" }
        return "--listen \(listener.direction.rawValue)=\(scheme):unix:/run/smime/\(listener.direction.rawValue)"
    }
}
