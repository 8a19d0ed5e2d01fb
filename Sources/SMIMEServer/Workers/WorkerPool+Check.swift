import NIOCore

/// Whether the store can be used, as far as the workers know.
extension WorkerPool {
    /// Asks a worker whether the store can be used; one that is at a message answers after it. What it says changes `trouble`.
    package func check() {
        guard !isClosing, asked == nil else { return }
        if let worker = idle.last {
            watch(worker, for: settings.checkTime) { $0.note(.silence) }
            return worker.check()
        }
        guard let worker = active.filter(\.isReady).min(by: { $0.began < $1.began }) else { return }
        let begun = jobsBegun
        watch(worker, for: settings.busyCheckTime) { pool in
            // A message that takes long says nothing about the store. A worker that is new has to open it.
            if pool.isAlive(since: begun) { return pool.checkAnew() }
            if pool.active.count < pool.settings.maximum { pool.startWorker() }
            pool.watch(worker, for: pool.settings.busyCheckTime) { pool in
                if pool.isAlive(since: begun) { pool.checkAnew() } else { pool.note(.silence) }
            }
        }
        worker.check()
    }

    /// How many messages the workers that there are have begun.
    private var jobsBegun: Int { workers.values.reduce(0) { $0 + $1.jobCount } }

    /// Whether a worker has come to an end with a message since `begun` were begun.
    private func isAlive(since begun: Int) -> Bool { !idle.isEmpty || jobsBegun != begun }

    private func checkAnew() {
        forgetCheck()
        check()
    }

    private func watch(_ worker: Worker, for time: TimeAmount, expired: @escaping (WorkerPool) -> Void) {
        asked = (worker, loop.assumeIsolated().scheduleTask(in: time) { [self] in expired(self) })
    }

    /// A worker has found `obstacle`, or none.
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

    /// A worker has opened the store, or cannot.
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
