import Foundation
package import NIOCore
import NIOPosix

/// The workers of the service: as many as there are cores, more while messages wait for the network.
///
/// A worker has one message at a time, so that it is known which one it died at. Everything here happens on the event loop.
package final class WorkerPool {
    /// How a job ended.
    package enum Result {
        case answered(WorkerOutcome, WorkerLog, by: Worker)
        /// The message is the cause: the worker died at it by this signal.
        case died(signal: Int32)
        /// The message is not the cause: there is no worker, or another process ended it.
        case unavailable(reason: String)
    }

    package struct Settings {
        /// How many workers there are at any time.
        package let width: Int
        /// How many there may be.
        package let maximum: Int
        /// How long one message may take.
        package var timeLimit = TimeAmount.minutes(5)
        /// How long all workers must have been at their messages before another one is started: then they wait for the network, and
        /// not for the processor.
        package var growthDelay = TimeAmount.milliseconds(100)
        /// How long a worker beyond `width` stays without work.
        package var idleTime = TimeAmount.seconds(60)
        /// How long a worker without a message may take to say whether the store can be used.
        package var checkTime = TimeAmount.seconds(3)
        /// How long a worker that is at a message may take, where all are, before a new one is started to open the store, and how long
        /// that may take.
        package var busyCheckTime = TimeAmount.seconds(10)

        package init(width: Int, maximum: Int) { (self.width, self.maximum) = (width, maximum) }
    }

    struct Pending {
        let job: WorkerJob
        let completion: (Result) -> Void
    }

    let loop: any EventLoop
    let settings: Settings
    private let start: () throws -> WorkerProcess
    var workers: [ObjectIdentifier: Worker] = [:]
    /// The one that was busy last is taken first: what it needs is in the processor's caches.
    var idle: [Worker] = []
    var waiting = CircularBuffer<Pending>()
    private var isGrowthScheduled = false
    var isClosing = false
    var retryDelay = TimeAmount.milliseconds(100)
    var isRetrying = false
    /// Why there is no worker with an open store; nil if there is one.
    package internal(set) var trouble: (reason: String, isLasting: Bool)? = ("starting", false)
    /// Why no private key can be used, though the store can; nil if they can.
    var keyTrouble: String?
    /// The worker that was asked whether the store can be used, and has not answered.
    var asked: (worker: Worker, limit: Scheduled<Void>)?
    /// Called when `trouble` or `keyTrouble` changes.
    package var onChange: () -> Void = {}
    /// Called with what was done at a message's end.
    var onSettled: (WorkerLog) -> Void = { _ in }
    /// Called with how many current certificates of accounts end soon.
    var onExpiring: (Int) -> Void = { _ in }
    /// Called with what the administrator should know.
    var warn: (String) -> Void = { _ in }
    /// How many workers died at a message.
    var deaths = 0

    package init(on loop: any EventLoop, _ settings: Settings, start: @escaping () throws -> WorkerProcess) {
        self.loop = loop
        self.settings = settings
        self.start = start
    }

    /// How many workers there are.
    package var count: Int { workers.count }

    /// Those that get messages.
    var active: [Worker] { workers.values.filter { !$0.isRetired } }

    /// Starts the first workers.
    package func open() {
        for _ in 0..<settings.width { startWorker() }
    }

    /// Lets a worker handle `job`.
    package func submit(_ job: WorkerJob, _ completion: @escaping (Result) -> Void) {
        if trouble?.isLasting == true, let reason = trouble?.reason { return completion(.unavailable(reason: reason)) }
        waiting.append(Pending(job: job, completion: completion))
        dispatch()
        if !waiting.isEmpty { growLater() }
    }

    /// Takes a job back that no worker has begun; what a worker says of one that it has begun is passed on all the same.
    ///
    /// - Returns: whether it was taken back.
    func withdraw(_ number: UInt64) -> Bool {
        let count = waiting.count
        waiting.removeAll { $0.job.number == number }
        return waiting.count < count
    }

    /// Lets every worker end after its message, and starts new ones: they open the store anew.
    func renew() {
        let old = Array(workers.values)
        for worker in old { retire(worker) }
        for _ in 0..<settings.width { startWorker() }
    }

    /// Asks a worker how many certificates end soon.
    func countExpiring() { (idle.last ?? workers.values.first { $0.isReady })?.countExpiring() }

    /// Ends all workers; jobs that no worker has are answered.
    package func close() {
        isClosing = true
        let left = waiting
        waiting.removeAll()
        for pending in left { pending.completion(.unavailable(reason: "the service is stopping")) }
        for worker in workers.values { retire(worker) }
    }

    func retire(_ worker: Worker) {
        idle.removeAll { $0 === worker }
        worker.retire()
    }

    func dispatch() {
        while let worker = idle.popLast() {
            guard let pending = waiting.popFirst() else { return idle.append(worker) }
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
            // A worker that is still starting will take the next message, and so will one whose message is recent.
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
            failed("\(error)", isLasting: false)
        }
    }

    func failed(_ reason: String, isLasting: Bool) {
        // Others may work still.
        guard !active.contains(where: \.isReady) else { return retryLater() }
        trouble = (reason, isLasting)
        onChange()
        if isLasting {
            let left = waiting
            waiting.removeAll()
            for pending in left { pending.completion(.unavailable(reason: reason)) }
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
