import Foundation

/// The number of files that the service may have open at the same time (getrlimit(2)).
enum DescriptorLimit {
    /// The number of descriptors for everything except connections of mail servers and spools: listeners, sockets of workers,
    /// connections to the next hop, connections to the operations endpoint.
    private static let reserve = 264
    /// The maximum number of connections. Mail servers open fewer.
    private static let maximum = 10_000

    /// Raises the limit of this process to the maximum that the system allows.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(4 * maximum))
        _ = setrlimit(kind, &limit)
    }

    /// The number of connections of mail servers that are possible beside `messages` in flight. Each message needs two spools
    /// and a connection to the next hop.
    static func connections(beside messages: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return 256 }
        let count = Int(clamping: limit.rlim_cur)
        return max(8, min(maximum, count - 3 * messages - reserve))
    }

    #if os(Linux)
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    private static let kind = RLIMIT_NOFILE
    #endif
}
