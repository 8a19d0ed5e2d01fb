import NIOCore

/// Replaces the workers.
extension WorkerPool {
    /// Lets every worker end after its message, and starts new workers, which open the store again. Calls that follow shortly
    /// after one another are joined, so that the number of processes stays limited.
    ///
    /// - Returns: whether the workers are replaced now; false if they are replaced later.
    @discardableResult package func renew() -> Bool {
        guard !isRenewed else {
            isRenewalDemanded = true
            return false
        }
        isRenewed = true
        for worker in Array(workers.values) {
            retire(worker)
            // It has no message, and may wait for the store for ever.
            if !worker.isReady { worker.failed() }
        }
        for _ in 0..<settings.width { startWorker() }
        allowRenewalLater()
        return true
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
