import Foundation
package import NIOCore
import NIOPosix

/// The workers of the service: one for each processor core, and more after all of them have been busy for
/// `growthDelay`.
///
/// A worker handles only one message at a time. If a worker dies, the pool therefore knows which message it was handling.
/// Everything here runs on the event loop.
package final class WorkerPool {
    /// The result of a job.
    package enum Result {
        case answered(WorkerOutcome, WorkerLog, by: Worker)
        /// The worker died by this signal (0: it exited) while handling the message. The message is the probable cause.
        case died(signal: Int32)
        /// The worker was ended by this signal because it computed for longer than `limit`. The message is the probable cause.
        case computedTooLong(limit: TimeAmount, signal: Int32)
        /// The worker was ended by this signal (0: it exited), and the message is probably not the cause: another
        /// process or the kernel sent the signal, or the worker was also settling another message.
        case ended(signal: Int32)
        /// The worker was ended because the message took longer than `limit`. The worker had waited for the store or
        /// the network, so the message is not the cause.
        case overdue(limit: TimeAmount)
        /// There is no worker.
        case unavailable(reason: String)
    }

    /// The numbers of workers, and the time limits.
    package struct Settings {
        /// The number of workers that are always running.
        package let width: Int
        /// The maximum number of workers.
        package let maximum: Int
        /// The maximum time for handling one message.
        package var timeLimit = TimeAmount.minutes(5)
        /// The time after `timeLimit` in which the service observes whether the worker computes or waits, before it is ended.
        package var observationTime = TimeAmount.seconds(5)
        /// The time for which all workers must have been handling their messages before another worker is started. By then
        /// they probably wait for the network, and not for the processor.
        package var growthDelay = TimeAmount.milliseconds(100)
        /// The time after which an idle worker beyond `width` ends.
        package var idleTime = TimeAmount.seconds(60)
        /// The time that an idle worker has to answer whether the store can be used.
        package var checkTime = TimeAmount.seconds(3)
        /// If all workers are handling messages: the time that one of them has to finish its message before a new worker is
        /// started to open the store, and the time that the new worker has to open the store.
        package var busyCheckTime = TimeAmount.seconds(10)
        /// The time after which an idle worker that does not answer is ended.
        package var silenceTime = TimeAmount.seconds(30)
        /// The minimum time from one renewal of the workers to the next.
        package var renewalTime = TimeAmount.seconds(1)
        /// If no worker can work: the time for which the remaining work for a message (`WorkerSettlement`) waits for a new
        /// worker.
        package var settlingTime = TimeAmount.seconds(10)

        package init(width: Int, maximum: Int) { (self.width, self.maximum) = (width, maximum) }
    }

    struct Pending {
        let job: WorkerJob
        let completion: (Result) -> Void
        let began: () -> Void
    }

    let loop: any EventLoop
    let settings: Settings
    private let start: () throws -> WorkerProcess
    var workers: [ObjectIdentifier: Worker] = [:]
    /// The idle workers. The last one was busy most recently and is used first, because the processor's caches still contain
    /// its data.
    var idle: [Worker] = []
    var waiting = CircularBuffer<Pending>()
    /// The calls, by message number, that wait for a new worker to settle a message, because the message's own worker ended
    /// before it changed the journal.
    var unsettled: [UInt64: (Worker) -> Void] = [:]
    private var isGrowthScheduled = false
    var isClosing = false
    /// Whether the workers were renewed so recently that another renewal has to wait.
    var isRenewed = false
    /// Whether the workers have to be renewed again as soon as this is possible.
    var isRenewalDemanded = false
    var retryDelay = TimeAmount.milliseconds(100)
    var isRetrying = false
    /// The reason that the workers cannot use the store; nil if they can.
    package internal(set) var failure: WorkerFailure? = WorkerFailure("starting", isLasting: false)
    /// The reason that no private key can be used although the store can be used; otherwise nil.
    var keyFailure: String?
    /// Whether the journal could not be written at the last attempt. Then a message in several copies could be sent again and
    /// again to those recipients whose copy was accepted.
    package internal(set) var isJournalFailing = false {
        didSet { if isJournalFailing != oldValue { onChange() } }
    }
    /// The callbacks that wait for the result of a check of the journal.
    var journalChecks: [(_ isWritable: Bool) -> Void] = []
    /// The worker that was asked whether the store can be used and has not answered yet; nil if there is none.
    var asked: (worker: Worker, limit: Scheduled<Void>)?
    /// Called when `failure`, `keyFailure` or `isJournalFailing` changes, and when workers cannot start for the same
    /// reason again.
    package var onChange: () -> Void = {}
    /// Called when the workers are replaced, now or some time after `renew`.
    package var onRenewed: () -> Void = {}
    /// Called with a worker's log after it recorded or learned something at the end of a message.
    var onSettled: (WorkerLog) -> Void = { _ in }
    /// Called with the number of the accounts' certificates that expire soon and have no successor.
    var onExpiring: (Int) -> Void = { _ in }
    /// Called with warnings for the administrator.
    var warn: (String) -> Void = { _ in }
    private var hasWarnedOfSwapping = false

    package init(on loop: any EventLoop, _ settings: Settings, start: @escaping () throws -> WorkerProcess) {
        self.loop = loop
        self.settings = settings
        self.start = start
    }

    private static let stopping = "the service is stopping"

    /// The number of workers.
    package var count: Int { workers.count }

    /// The workers that get messages.
    var active: [Worker] { workers.values.filter { !$0.isRetired } }

    /// Starts the first workers.
    package func open() {
        for _ in 0..<settings.width { startWorker() }
    }

    /// Lets a worker handle `job`.
    ///
    /// - Parameter began: called when a worker gets the job, which may be some time later.
    package func submit(
        _ job: WorkerJob,
        _ completion: @escaping (Result) -> Void,
        began: @escaping () -> Void = {}
    ) {
        if let failure, failure.isLasting { return completion(.unavailable(reason: failure.reason)) }
        guard !isClosing else { return completion(.unavailable(reason: Self.stopping)) }
        waiting.append(Pending(job: job, completion: completion, began: began))
        dispatch()
        if !waiting.isEmpty { growLater() }
    }

    /// Withdraws a job that no worker has begun. The result of a job that was begun is still reported.
    ///
    /// - Returns: whether the job was withdrawn.
    func withdraw(_ number: UInt64) -> Bool {
        let count = waiting.count
        waiting.removeAll { $0.job.number == number }
        return waiting.count < count
    }

    /// Warns, once, that private keys may be swapped out.
    func warnOfSwapping() {
        guard !hasWarnedOfSwapping else { return }
        hasWarnedOfSwapping = true
        warn("private keys may be swapped out: the system lets the workers lock too little memory (LimitMEMLOCK)")
    }

    /// Asks a worker how many certificates expire soon.
    func countExpiring() { (idle.last ?? workers.values.first { $0.isReady })?.countExpiring() }

    /// Lets all workers end after their messages. Jobs that no worker has begun are completed as unavailable.
    package func close() {
        isClosing = true
        let left = waiting
        waiting.removeAll()
        for pending in left { pending.completion(.unavailable(reason: Self.stopping)) }
        for worker in workers.values { retire(worker) }
    }

    func retire(_ worker: Worker) {
        idle.removeAll { $0 === worker }
        worker.retire()
    }

    func dispatch() {
        while let worker = idle.popLast() {
            guard let pending = waiting.popFirst() else { return idle.append(worker) }
            pending.began()
            worker.handle(pending.job, within: settings.timeLimit, pending.completion)
        }
    }

    func growLater() {
        guard !isGrowthScheduled, active.count < settings.maximum else { return }
        isGrowthScheduled = true
        let task = loop.assumeIsolated()
        _ = task.scheduleTask(in: settings.growthDelay) { [self] in
            isGrowthScheduled = false
            guard !waiting.isEmpty, !isClosing, active.count < settings.maximum else { return }
            // A worker that is still starting will take the next message, and a worker that began its message recently may
            // soon be free.
            let limit = NIODeadline.now() - settings.growthDelay
            if active.allSatisfy({ $0.isReady && $0.began <= limit }) { startWorker() }
            growLater()
        }
    }

    func startWorker() {
        guard !isClosing else { return }
        do {
            let worker = Worker(try start(), pool: self)
            workers[ObjectIdentifier(worker)] = worker
            worker.connect(on: loop)
        } catch {
            failed(WorkerFailure("\(error)", isLasting: false))
        }
    }

    func failed(_ found: WorkerFailure) {
        // Other workers may still be able to work.
        guard !active.contains(where: \.isReady) else { return retryLater() }
        failure = found
        onChange()
        if found.isLasting {
            let left = waiting
            waiting.removeAll()
            for pending in left { pending.completion(.unavailable(reason: found.reason)) }
        }
        retryLater()
    }

    private func retryLater() {
        guard !isRetrying, !isClosing else { return }
        isRetrying = true
        _ = loop.assumeIsolated().scheduleTask(in: retryDelay) { [self] in
            isRetrying = false
            startMissing()
        }
        retryDelay = min(retryDelay * 2, .seconds(5))
    }
}
