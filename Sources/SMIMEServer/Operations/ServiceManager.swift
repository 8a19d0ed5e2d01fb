import Foundation

/// The interface between systemd and a service. Without systemd every call has no effect.
///
/// sd_notify(3), sd_listen_fds(3), sd_watchdog_enabled(3): the protocol consists of datagrams on a unix socket and a few
/// environment variables, so no library is needed.
struct ServiceManager: Sendable {
    private let notifySocket: String?
    /// The interval at which the service reports that it is alive; nil without a watchdog.
    let watchdogInterval: Duration?
    /// The sockets that systemd opened for the service, by name.
    let passedSockets: [(name: String, descriptor: Int32)]

    /// Reads the variables of systemd in `environment`.
    init(environment: [String: String], process: Int32 = getpid()) {
        notifySocket = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isForUs = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        // The interval is half of the required one, as sd_watchdog_enabled(3) recommends.
        watchdogInterval = isForUs ? microseconds.map { .microseconds($0 / 2) } : nil
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == process,
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), 0 < count, count <= 64
        else {
            passedSockets = []
            return
        }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        // The descriptors begin after the standard streams.
        passedSockets = (0..<count).map { index in
            (Int(index) < names.count ? String(names[Int(index)]) : "unknown", 3 + index)
        }
        // Workers must not inherit the sockets (sd_listen_fds(3)).
        for socket in passedSockets { _ = fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC) }
    }

    /// Removes variables that are only for this process from the environment, which workers inherit.
    static func clearEnvironment() {
        let names = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
        for name in names { unsetenv(name) }
    }

    /// Reports `state`, such as `READY=1`, to systemd. A failure is ignored.
    func notify(_ state: String) {
        guard let notifySocket, notifySocket.utf8.count < 108 else { return }
        #if os(Linux)
        let kind = Int32(SOCK_DGRAM.rawValue)
        #else
        let kind = SOCK_DGRAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = UnixDatagram.send(Array(state.utf8), over: descriptor, to: notifySocket)
    }
}
