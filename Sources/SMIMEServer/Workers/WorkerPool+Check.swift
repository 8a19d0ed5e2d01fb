import NIOCore

/// Checks whether the workers can use the store.
extension WorkerPool {
    /// Asks a worker whether the store can be used. A worker that is handling a message answers after the message. The answer
    /// changes `failure` and `keyFailure`.
    ///
    /// If an idle worker does not answer, another one is asked. `failure` becomes `WorkerObstacle.silence` if there is
    /// no other worker, or if all workers stay busy with the same messages and no new worker opens the store
    /// (`Settings.busyCheckTime`).
    package func check() {
        guard !isClosing, asked == nil else { return }
        if let worker = idle.last {
            watch(worker, for: settings.checkTime) { $0.setAside(worker) }
            return worker.check()
        }
        guard let worker = active.filter(\.canWork).min(by: { $0.began < $1.began }) else { return }
        let begun = jobsBegun
        watch(worker, for: settings.busyCheckTime) { pool in
            // A message may take long although the store can be used. If no worker has finished a message, a new worker is
            // started, because it must open the store.
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

    /// Gives no messages to an idle worker that does not answer, and asks another one. If the worker stays silent, it is
    /// ended.
    private func setAside(_ worker: Worker) {
        forgetCheck()
        idle.removeAll { $0 === worker }
        worker.isSilent = true
        _ = loop.assumeIsolated().scheduleTask(in: settings.silenceTime) { [self] in
            guard worker.isSilent, workers[ObjectIdentifier(worker)] === worker else { return }
            warn("a worker that did not answer was ended")
            worker.killProcess()
        }
        if active.contains(where: \.canWork) { check() } else { note(.silence) }
    }

    /// Handles a worker's answer: the obstacle that it found, or nil.
    func checked(_ worker: Worker, _ obstacle: WorkerObstacle?) {
        if worker.isSilent {
            worker.isSilent = false
            // The worker may have got a message before it was found silent. Then it becomes idle after that message.
            becameIdle(worker)
        }
        forgetCheck()
        note(obstacle)
    }

    func forgetCheck() {
        asked?.limit.cancel()
        asked = nil
    }

    private func note(_ obstacle: WorkerObstacle?) {
        let before = (failure?.reason, keyFailure)
        keyFailure = obstacle.flatMap { $0.isOfKeys ? $0.reason : nil }
        failure = obstacle.flatMap { $0.isOfKeys ? nil : WorkerFailure($0.reason, isLasting: false) }
        if (failure?.reason, keyFailure) != before { onChange() }
    }

    /// Handles a worker's start: it has opened the store, or could not open it.
    func started(_ worker: Worker, failure found: WorkerFailure?) {
        if let found {
            worker.retire()
            return failed(found)
        }
        retryDelay = .milliseconds(100)
        let hadFailed = failure != nil
        failure = nil
        if hadFailed { onChange() }
        settleWaiting(by: worker)
        becameIdle(worker)
        checkAnew()
    }
}

/// Replaces the workers.
extension WorkerPool {
    /// Lets every worker end after its message, and starts new workers, which open the store again. Calls that follow shortly
    /// after one another are joined, so that the number of processes stays limited; `onRenewed` is called when the workers
    /// are replaced.
    package func renew() {
        guard !isRenewed else {
            isRenewalDemanded = true
            return
        }
        isRenewed = true
        for worker in Array(workers.values) {
            retire(worker)
            // A worker that is not ready has no message, and may wait for the store forever.
            if !worker.isReady { worker.killProcess() }
        }
        for _ in 0..<settings.width { startWorker() }
        onRenewed()
        allowRenewalLater()
    }

    private func allowRenewalLater() {
        _ = loop.assumeIsolated().scheduleTask(in: settings.renewalTime) { [self] in
            guard !isClosing else { return }
            // Retired workers may still have long messages.
            guard workers.count - active.count < settings.maximum else { return allowRenewalLater() }
            isRenewed = false
            guard isRenewalDemanded else { return }
            isRenewalDemanded = false
            renew()
        }
    }
}
