import NIOCore

/// Checks whether the workers can use the store.
extension WorkerPool {
    /// Asks a worker whether the store can be used. A worker that is handling a message answers after the message. The answer
    /// changes `trouble`.
    package func check() {
        guard !isClosing, asked == nil else { return }
        if let worker = idle.last {
            watch(worker, for: settings.checkTime) { $0.note(.silence) }
            return worker.check()
        }
        guard let worker = active.filter(\.isReady).min(by: { $0.began < $1.began }) else { return }
        let begun = jobsBegun
        watch(worker, for: settings.busyCheckTime) { pool in
            // A message that takes long says nothing about the store. If no worker has finished a message, a new worker is
            // started, which must open the store.
            if pool.isAlive(since: begun) { return pool.checkAnew() }
            if pool.active.count < pool.settings.maximum { pool.startWorker() }
            pool.watch(worker, for: pool.settings.busyCheckTime) { pool in
                if pool.isAlive(since: begun) { pool.checkAnew() } else { pool.note(.silence) }
            }
        }
        worker.check()
    }

    /// The number of messages that the present workers have begun.
    private var jobsBegun: Int { workers.values.reduce(0) { $0 + $1.jobCount } }

    /// Whether a worker is idle or has begun another message since the number of begun messages was `begun`.
    private func isAlive(since begun: Int) -> Bool { !idle.isEmpty || jobsBegun != begun }

    private func checkAnew() {
        forgetCheck()
        check()
    }

    private func watch(_ worker: Worker, for time: TimeAmount, expired: @escaping (WorkerPool) -> Void) {
        asked = (worker, loop.assumeIsolated().scheduleTask(in: time) { [self] in expired(self) })
    }

    /// Handles a worker's answer: the obstacle that it found, or nil.
    func checked(_ obstacle: WorkerObstacle?) {
        forgetCheck()
        note(obstacle)
    }

    func forgetCheck() {
        asked?.limit.cancel()
        asked = nil
    }

    private func note(_ obstacle: WorkerObstacle?) {
        let before = (trouble?.reason, keyTrouble)
        keyTrouble = obstacle.flatMap { $0.isOfKeys ? $0.reason : nil }
        trouble = obstacle.flatMap { $0.isOfKeys ? nil : ($0.reason, false) }
        if (trouble?.reason, keyTrouble) != before { onChange() }
    }

    /// Handles a worker's start: it has opened the store, or could not open it.
    func started(_ worker: Worker, trouble found: (reason: String, isLasting: Bool)?) {
        if let found {
            worker.retire()
            return failed(found.reason, isLasting: found.isLasting)
        }
        retryDelay = .milliseconds(100)
        let wasInTrouble = trouble != nil
        trouble = nil
        if wasInTrouble { onChange() }
        becameIdle(worker)
        checkAnew()
    }
}
