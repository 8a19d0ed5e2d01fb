import Foundation

/// A spawned process that must be waited for.
struct ChildProcess {
    struct Ending {
        var status: Int32
        var signal: Int32?
        var processorTime: Duration
        var isTimeout = false
    }

    let identifier: pid_t

    /// How the process ended; nil while it runs.
    func endingIfOver() -> Ending? { wait(WNOHANG) }

    /// Waits for the end.
    func waitForEnding() -> Ending? { wait(0) }

    /// Kills the process and its children, except those in other process groups.
    func kill() {
        #if canImport(Glibc)
        Glibc.kill(-identifier, SIGKILL)
        #else
        Darwin.kill(-identifier, SIGKILL)
        #endif
    }

    private func wait(_ options: Int32) -> Ending? {
        var status: Int32 = 0
        var usage = rusage()
        var waited: pid_t
        repeat { waited = wait4(identifier, &status, options, &usage) } while waited < 0 && errno == EINTR
        guard waited == identifier else { return nil }
        let signal = status & 0x7f
        return Ending(
            status: signal == 0 ? (status >> 8) & 0xff : 128 + signal,
            signal: signal == 0 ? nil : signal,
            processorTime: Duration(usage.ru_utime) + Duration(usage.ru_stime)
        )
    }
}

extension Duration {
    fileprivate init(_ time: timeval) {
        self = .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
    }
}
