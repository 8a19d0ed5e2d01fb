package import Foundation
import NIOCore
import SMIMEGateway

/// Handles workers that become idle or end.
extension WorkerPool {
    /// Gives `worker` the next message, or notes that it is idle. Does nothing if the worker is already known to be idle, has a
    /// message, is silent, is retired, or has ended.
    func becameIdle(_ worker: Worker) {
        guard !worker.isRetired, !worker.isBusy, !worker.isSilent, workers[ObjectIdentifier(worker)] != nil,
            !idle.contains(where: { $0 === worker })
        else { return }
        idle.append(worker)
        dispatch()
        guard active.count > settings.width, idle.contains(where: { $0 === worker }) else { return }
        let jobs = worker.jobCount
        _ = loop.assumeIsolated().scheduleTask(in: settings.idleTime) { [self] in
            guard worker.jobCount == jobs, active.count > settings.width else { return }
            retire(worker)
        }
    }

    /// Handles the end of a worker's socket. The process should end at once if it has not ended yet.
    func ended(_ worker: Worker) {
        idle.removeAll { $0 === worker }
        workers[ObjectIdentifier(worker)] = nil
        if asked?.worker === worker { forgetCheck() }
        reap(worker, attempts: 0)
    }

    private func reap(_ worker: Worker, attempts: Int) {
        guard let signal = worker.process.ending() else {
            // The worker has closed its socket but does not end. Its work no longer matters.
            if attempts == 100 { kill(worker.process.identifier, SIGKILL) }
            _ = loop.assumeIsolated().scheduleTask(in: .milliseconds(attempts < 10 ? 2 : 20)) { [self] in
                reap(worker, attempts: attempts + 1)
            }
            return
        }
        let job = worker.takeJob()
        let isRequest = [SIGHUP, SIGINT, SIGTERM, SIGKILL, SIGQUIT, SIGALRM].contains(signal) && !worker.isOverTime
        if let job {
            if worker.wasWaiting {
                job.completion(.overdue(limit: settings.timeLimit))
            } else if isRequest || worker.endedSettling {
                job.completion(.ended(signal: signal))
            } else if worker.isOverTime {
                job.completion(.computedTooLong(limit: settings.timeLimit, signal: signal))
            } else {
                job.completion(.died(signal: signal))
            }
        }
        if worker.isRetired {
            startMissing()
            if !waiting.isEmpty { growLater() }
            return
        }
        if job == nil { warn("a worker ended while it had no message (signal \(signal))") }
        // A worker that was never ready may have failed for a lasting reason, so the next start is delayed.
        if worker.isReady {
            startMissing()
        } else {
            failed(WorkerFailure("workers cannot start (signal \(signal))", isLasting: false))
        }
    }

    func startMissing() {
        while active.count < settings.width, !isClosing, !isRetrying { startWorker() }
    }
}

/// A worker's process, and the service's end of the socket to it.
package struct WorkerProcess {
    let identifier: pid_t
    /// The service's end of the socket. The caller owns it and must close it.
    let socket: Int32

    package init(identifier: pid_t, socket: Int32) { (self.identifier, self.socket) = (identifier, socket) }

    /// Starts this program as a worker.
    ///
    /// - Throws: `TransportError` if no process or descriptor can be created.
    static func start(arguments: [String], spools: [Int32]) throws(TransportError) -> WorkerProcess {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw TransportError("cannot create a socket: \(String(cString: strerror(errno)))")
        }
        defer { close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        closeOnStart()
        let role = ServerWorker(service: getpid(), socket: ends[1], spools: spools, arguments: arguments)
        var program = ChildProgram(path: path, words: role.words)
        program.standardError = STDERR_FILENO
        program.inherited = [role.socket] + spools
        do throws(TransportError) {
            return WorkerProcess(identifier: try program.start(), socket: ends[0])
        } catch {
            close(ends[0])
            throw error
        }
    }

    /// Sets close-on-exec for every descriptor that a worker must not inherit. Otherwise sockets of mail servers would stay
    /// open in workers, and a worker that a malicious message has taken over could write to them. Sockets are only opened on
    /// the event loop, on which this function runs.
    private static func closeOnStart() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? [] {
            if let descriptor = Int32(name), descriptor > STDERR_FILENO { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        }
    }

    /// The path of this program. On Linux it names the running program, even if the file was replaced in the meantime.
    private static var path: String {
        #if os(Linux)
        "/proc/self/exe"
        #else
        Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }

    /// The time for which the process has used a processor or waited for one; nil if it cannot be determined, as on macOS.
    var busyTime: TimeAmount? {
        let path = "/proc/\(identifier)/schedstat"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ").prefix(2).compactMap { Int64($0) }
        return fields.count == 2 ? .nanoseconds(fields[0]) + .nanoseconds(fields[1]) : nil
    }

    /// The signal that ended the process; zero if the process exited, nil if it has not ended yet.
    func ending() -> Int32? {
        var status: Int32 = 0
        let result = waitpid(identifier, &status, WNOHANG)
        // Except for EINTR, waitpid(2) fails only if the process was already collected, so it has ended.
        if result < 0 { return errno == EINTR ? nil : 0 }
        return result == 0 ? nil : status & 0x7F
    }
}
