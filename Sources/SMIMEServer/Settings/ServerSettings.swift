import Foundation
package import SMIMEGateway

/// The settings of the service from the command line.
package struct ServerSettings: Sendable {
    /// The addresses to which mail servers connect.
    package var listeners: [Endpoint] = []
    /// The servers that receive finished messages.
    package var nextHops: [GatewayRole: Endpoint] = [:]
    /// The address at which Prometheus and load balancers can connect; nil for none.
    package var metrics: SocketName?
    /// The maximum number of messages that are received or handled at the same time.
    package var maximumMessages = 8 * ProcessInfo.processInfo.activeProcessorCount
    /// The maximum size of a message in bytes.
    package var maximumSize = 100 << 20
    /// The number of seconds that messages in flight have to end when the service stops.
    package var grace = 30
    /// The networks from which clients may connect, in addition to loopback addresses.
    package var allowed: [NetworkRange] = []
    /// The name of this host in the greeting and other replies, and in EHLO to the next hop.
    package var hostName = "localhost"
    /// Returns the arguments for a worker that is about to start, without the program's name.
    package var workerArguments: @Sendable () -> [String] = { [] }
    /// The number of workers that are always running.
    package var workers = ProcessInfo.processInfo.activeProcessorCount

    package init() {}

    /// - Throws: `ServerError.settings` if a setting is missing or out of range, or if settings contradict each other.
    package func check() throws(ServerError) {
        guard !listeners.isEmpty else { throw .settings("name a listener: --listen ROLE=SCHEME:ADDRESS") }
        for listener in listeners {
            if Set(listeners.map(\.socket)).count < listeners.count {
                throw .settings("--listen: two listeners have the same address")
            }
            // A milter needs a next hop only for messages with several copies.
            guard listener.scheme == .milter || nextHops[listener.role] != nil else {
                throw .settings("\(listener) needs --next-hop \(listener.role.rawValue)=smtp:ADDRESS")
            }
            if case .tcp(let host, _) = listener.socket, !NetworkRange.isLoopback(host), allowed.isEmpty {
                throw .settings(
                    "\(listener): other machines can reach this address: name those allowed with --allow NET"
                )
            }
        }
        if case .tcp(let host, _)? = metrics, !NetworkRange.isLoopback(host), allowed.isEmpty {
            throw .settings("--metrics: other machines can reach this address: name those allowed with --allow NET")
        }
        for hop in nextHops.values {
            guard hop.scheme == .smtp else { throw .settings("--next-hop \(hop): a next hop must use smtp") }
            if case .passed = hop.socket { throw .settings("--next-hop \(hop): fd:NAME is only for listeners") }
        }
        guard 1...1000 ~= maximumMessages else { throw .settings("--max-messages takes 1 to 1000") }
        guard maximumSize >= 64 << 10 else { throw .settings("--max-size takes 65536 or more") }
        guard grace >= 0 else { throw .settings("--grace takes 0 or more") }
    }
}

/// The reason that the service cannot start.
package enum ServerError: Error, Equatable, Sendable {
    /// A setting is missing or out of range, or settings contradict each other.
    case settings(String)
    /// A listener cannot be opened.
    case cannotListen(Endpoint, reason: String)
    /// The listener for metrics cannot be opened.
    case cannotListenForMetrics(SocketName, reason: String)
    /// The store cannot be used until an administrator repairs it (`WorkerFailure.isLasting`).
    case storeUnusable(WorkerFailure)
    /// Any other error, such as temporary files that cannot be created.
    case system(reason: String)
}

extension ServerError: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }

    /// One sentence, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .settings(let text): text
        case .cannotListen(let endpoint, let reason): "cannot listen on \(endpoint): \(reason)"
        case .cannotListenForMetrics(let name, let reason): "cannot listen on \(name): \(reason)"
        case .storeUnusable(let failure): failure.reason
        case .system(let reason): reason
        }
    }
}
