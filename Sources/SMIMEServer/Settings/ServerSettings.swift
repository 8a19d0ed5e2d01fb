import Foundation
package import SMIMEGateway

/// How the service runs, as the command line says.
package struct ServerSettings: Sendable {
    package var listeners: [Endpoint] = []
    /// Where finished messages go.
    package var nextHops: [GatewayRole: Endpoint] = [:]
    /// Where Prometheus and load balancers ask; nil for nowhere.
    package var metrics: SocketName?
    /// How many messages are received or handled at a time.
    package var maximumMessages = 8 * ProcessInfo.processInfo.activeProcessorCount
    /// The largest message, in bytes.
    package var maximumSize = 100 << 20
    /// How many seconds messages in flight have to end after SIGTERM.
    package var grace = 30
    /// Who may connect, beside this machine.
    package var allowed: [NetworkRange] = []
    /// What the service calls itself in SMTP.
    package var hostName = "localhost"
    /// The arguments of this program, which its workers get.
    package var arguments: [String] = []
    /// How many workers there are at least.
    package var workers = ProcessInfo.processInfo.activeProcessorCount

    package init() {}

    /// - Throws: `ServerError.settings` with a sentence on settings that contradict each other.
    package func check() throws(ServerError) {
        guard !listeners.isEmpty else { throw .settings("name a listener: --listen ROLE=SCHEME:ADDRESS") }
        for listener in listeners {
            if Set(listeners.map(\.socket)).count < listeners.count {
                throw .settings("--listen: two listeners have the same address")
            }
            // A milter needs one only for messages of which several forms are needed.
            guard listener.scheme == .milter || nextHops[listener.role] != nil else {
                throw .settings("\(listener) needs --next-hop \(listener.role.rawValue)=smtp:ADDRESS")
            }
            if case .tcp(let host, _) = listener.socket, !NetworkRange.isLoopback(host), allowed.isEmpty {
                throw .settings("\(listener): others can reach this address: say who may connect with --allow NET")
            }
        }
        if case .tcp(let host, _)? = metrics, !NetworkRange.isLoopback(host), allowed.isEmpty {
            throw .settings("--metrics: others can reach this address: say who may connect with --allow NET")
        }
        for hop in nextHops.values {
            guard hop.scheme == .smtp else { throw .settings("--next-hop \(hop): the next hop speaks smtp") }
            if case .passed = hop.socket { throw .settings("--next-hop \(hop): fd:NAME is for listeners") }
        }
        guard 1...1000 ~= maximumMessages else { throw .settings("--max-messages takes 1 to 1000") }
        guard maximumSize >= 64 << 10 else { throw .settings("--max-size takes 65536 or more") }
    }
}

/// Why the service does not run.
package enum ServerError: Error, Equatable, Sendable {
    /// The command line cannot be meant.
    case settings(String)
    /// A listener cannot be opened.
    case cannotListen(Endpoint, reason: String)
    /// The listener for metrics cannot be opened.
    case cannotListenForMetrics(SocketName, reason: String)
    /// The store is damaged, newer or missing.
    case storeUnusable(reason: String)
    /// The system gives no threads, files or processes.
    case system(reason: String)
}

extension ServerError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence in lower case and without a full stop.
    package var description: String {
        switch self {
        case .settings(let text): text
        case .cannotListen(let endpoint, let reason): "cannot listen on \(endpoint): \(reason)"
        case .cannotListenForMetrics(let name, let reason): "cannot listen on \(name): \(reason)"
        case .storeUnusable(let reason): reason
        case .system(let reason): reason
        }
    }
}
