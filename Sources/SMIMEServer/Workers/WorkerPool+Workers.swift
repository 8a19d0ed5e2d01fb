import Foundation
import NIOCore

/// Handles workers that become idle or end.
extension WorkerPool {
    /// Gives `worker` the next message, or notes that it is idle. Does nothing if the worker is known to be idle, has a message,
    /// gets no more messages, or has ended.
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
            } else {
                deaths += 1
                job.completion(.died(signal: signal))
            }
        }
        if worker.isRetired {
            startMissing()
            if !waiting.isEmpty { growLater() }
            return
        }
        if job == nil { warn("a worker ended between two messages (signal \(signal))") }
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
