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

    private struct Pending {
        let job: WorkerJob
        let completion: (Result) -> Void
    }

    private let loop: any EventLoop
    private let settings: Settings
    private let start: () throws -> WorkerProcess
    private var workers: [ObjectIdentifier: Worker] = [:]
    /// The one that was busy last is taken first: what it needs is in the processor's caches.
    private var idle: [Worker] = []
    private var waiting = CircularBuffer<Pending>()
    private var isGrowthScheduled = false
    private var isClosing = false
    private var retryDelay = TimeAmount.milliseconds(100)
    private var isRetrying = false
    /// Why there is no worker with an open store; nil if there is one.
    package private(set) var trouble: (reason: String, isLasting: Bool)? = ("starting", false)
    /// Why no private key can be used, though the store can; nil if they can.
    private(set) var keyTrouble: String?
    /// The worker that was asked whether the store can be used, and has not answered.
    private var asked: (worker: Worker, limit: Scheduled<Void>)?
    /// Called when `trouble` or `keyTrouble` changes.
    package var onChange: () -> Void = {}
    /// Called with what was done at a message's end.
    var onSettled: (WorkerLog) -> Void = { _ in }
    /// Called with how many current certificates of accounts end soon.
    var onExpiring: (Int) -> Void = { _ in }
    /// Called with what the administrator should know.
    var warn: (String) -> Void = { _ in }
    /// How many workers died at a message.
    private(set) var deaths = 0

    package init(on loop: any EventLoop, _ settings: Settings, start: @escaping () throws -> WorkerProcess) {
        self.loop = loop
        self.settings = settings
        self.start = start
    }

    /// How many workers there are.
    package var count: Int { workers.count }

    /// Those that get messages.
    private var active: [Worker] { workers.values.filter { !$0.isRetired } }

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

    /// Withdraws a job that no worker has begun. The result of one that has begun is still passed on.
    func withdraw(_ number: UInt64) { waiting.removeAll { $0.job.number == number } }

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

    private func retire(_ worker: Worker) {
        idle.removeAll { $0 === worker }
        worker.retire()
    }

    private func dispatch() {
        while let worker = idle.popLast() {
            guard let pending = waiting.popFirst() else { return idle.append(worker) }
            worker.handle(pending.job, within: settings.timeLimit, pending.completion)
        }
    }

    private func growLater() {
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

    private func startWorker() {
        guard !isClosing else { return }
        do {
            let worker = Worker(try start(), pool: self)
            workers[ObjectIdentifier(worker)] = worker
            worker.connect(on: loop)
        } catch {
            failed("\(error)", isLasting: false)
        }
    }

    private func failed(_ reason: String, isLasting: Bool) {
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

    private func forgetCheck() {
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

    func becameIdle(_ worker: Worker) {
        guard !worker.isRetired else { return }
        idle.append(worker)
        dispatch()
        guard active.count > settings.width, idle.contains(where: { $0 === worker }) else { return }
        let jobs = worker.jobCount
        _ = loop.assumeIsolated().scheduleTask(in: settings.idleTime) { [self] in
            guard worker.jobCount == jobs, active.count > settings.width else { return }
            retire(worker)
        }
    }

    /// A worker's socket is closed. The process ends at once, if it has not yet.
    func ended(_ worker: Worker) {
        idle.removeAll { $0 === worker }
        workers[ObjectIdentifier(worker)] = nil
        if asked?.worker === worker { forgetCheck() }
        reap(worker, attempts: 0)
    }

    private func reap(_ worker: Worker, attempts: Int) {
        guard let signal = worker.process.ending() else {
            // It closed its socket and does not end: nothing that it does counts any more.
            if attempts == 100 { kill(worker.process.identifier, SIGKILL) }
            _ = loop.assumeIsolated().scheduleTask(in: .milliseconds(attempts < 10 ? 2 : 20)) { [self] in
                reap(worker, attempts: attempts + 1)
            }
            return
        }
        let job = worker.takeJob()
        let isRequest = [SIGHUP, SIGINT, SIGTERM, SIGKILL, SIGQUIT, SIGALRM].contains(signal) && !worker.isOverTime
        if let job {
            if isRequest || worker.endedSettling {
                job.completion(.unavailable(reason: "the worker was ended (signal \(signal))"))
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
        // One that never was ready may have met what will last.
        if worker.isReady {
            startMissing()
        } else {
            failed("workers cannot start (signal \(signal))", isLasting: false)
        }
    }

    private func startMissing() {
        while active.count < settings.width, !isClosing, !isRetrying { startWorker() }
    }
}
