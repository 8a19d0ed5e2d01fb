import NIOCore

/// Settles messages whose worker may have ended.
extension WorkerPool {
    /// The number of workers that try to change the journal for one message.
    private static let settlingAttempts = 3

    /// Lets `worker`, which handled the message, do the work that remains. If that worker ends before it is done, another
    /// worker changes the journal, because otherwise the next attempt would send the message twice.
    ///
    /// - Parameter completion: called with false if the journal could not be changed.
    func settle(
        _ settlement: WorkerSettlement,
        by worker: Worker,
        _ completion: @escaping (_ isDone: Bool) -> Void
    ) {
        settle(settlement, by: worker, attempts: Self.settlingAttempts) { [self] isDone in
            if settlement.changesJournal { isJournalFailing = !isDone }
            completion(isDone)
        }
    }

    /// Checks whether the journal can be written, and calls `completion` with the result.
    func checkJournal(number: UInt64, _ completion: @escaping (_ isWritable: Bool) -> Void = { _ in }) {
        guard let worker = idle.last ?? active.first(where: \.canWork) else { return completion(false) }
        settle(WorkerSettlement(number: number, entry: nil, checksJournal: true), by: worker, completion)
    }

    private func settle(
        _ settlement: WorkerSettlement,
        by worker: Worker,
        attempts: Int,
        _ completion: @escaping (_ isDone: Bool) -> Void
    ) {
        worker.settle(settlement) { [self] result in
            guard result == .workerEnded, settlement.changesJournal, attempts > 1 else {
                return completion(result == .done)
            }
            // The worker may have made the change before it ended, but making it again has no further effect.
            if let other = idle.last ?? active.first(where: \.canWork) {
                return settle(settlement, by: other, attempts: attempts - 1, completion)
            }
            guard !isClosing else { return completion(false) }
            let limit = loop.assumeIsolated().scheduleTask(in: settings.settlingTime) { [self] in
                if unsettled.removeValue(forKey: settlement.number) != nil { completion(false) }
            }
            unsettled[settlement.number] = { [self] worker in
                limit.cancel()
                settle(settlement, by: worker, attempts: attempts - 1, completion)
            }
        }
    }

    /// Lets a worker that has just started settle the messages that wait for a worker.
    func settleWaiting(by worker: Worker) {
        let waiting = unsettled.values
        unsettled = [:]
        for settle in waiting { settle(worker) }
    }
}
