import Foundation

/// How many files the service may have open at a time (getrlimit(2)).
enum DescriptorLimit {
    /// What the service needs beside connections and spools: listeners, workers' sockets, connections to the next hop.
    private static let reserve = 200
    /// More connections than mail servers make.
    private static let maximum = 10_000

    /// Raises the limit of this process as far as it may.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(4 * maximum))
        _ = setrlimit(kind, &limit)
    }

    /// How many connections of mail servers there may be, beside `messages` in flight with two spools and a connection to the next hop each.
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
