import Foundation
import Logging
import NIOCore
import NIOPosix
import SMIMEGateway

/// The parts of the running service. Everything here runs on the event loop.
final class GatewayRuntime {
    /// The time that workers have to end when the service ends.
    private static let workerTime = TimeAmount.seconds(5)
    /// The interval at which the certificates that expire soon are counted.
    private static let countingTime = TimeAmount.hours(1)
    /// The interval at which a worker is asked whether the store can be used.
    private static let checkingTime = TimeAmount.seconds(2)

    let settings: ServerSettings
    let manager: ServiceManager
    let logger: Logger
    /// Writes to standard error in addition to the log; nil if standard error is the log.
    var console: Logger?
    let loop: any EventLoop
    let core: GatewayCore
    let nextHops: [GatewayRole: NextHop]
    var listeners: [any Channel] = []
    var operations: (any Channel)?
    private let ended: EventLoopPromise<Void>
    /// Completed when the first worker reports whether it can use the store; nil when the service is not starting.
    var opening: EventLoopPromise<Void>?
    private var isStopped = false

    /// - Throws: `StreamError` if the temporary files cannot be created.
    init(
        _ settings: ServerSettings,
        on loop: any EventLoop,
        _ manager: ServiceManager,
        logger: Logger,
        logsFields: Bool
    ) throws {
        self.settings = settings
        self.manager = manager
        self.logger = logger
        self.loop = loop
        let slots = try MessageSlots(count: settings.maximumMessages)
        let pool = WorkerPool(
            on: loop,
            WorkerPool.Settings(
                width: settings.workers,
                maximum: max(settings.workers, min(settings.maximumMessages, 8 * settings.workers))
            )
        ) { try WorkerProcess.start(arguments: settings.workerArguments(), spools: slots.descriptors) }
        core = GatewayCore(
            loop: loop,
            pool: pool,
            slots: slots,
            connections: Connections(maximum: DescriptorLimit.connections(beside: settings.maximumMessages)),
            logging: { Self.write($0, $1, to: logger, withFields: logsFields) },
            warn: { logger.warning("\($0)") }
        )
        nextHops = settings.nextHops.mapValues {
            NextHop(NextHop.Settings(address: $0.socket, hostName: settings.hostName), on: loop)
        }
        ended = loop.makePromise()
    }

    private static func write(
        _ log: MessageLog,
        _ result: ServerMetrics.Result,
        to logger: Logger,
        withFields: Bool
    ) {
        let level: Logger.Level = result == .accepted ? .info : .warning
        var metadata: Logger.Metadata?
        if withFields {
            let fields = log.fields(result).map {
                ($0.key, Logger.MetadataValue.string($0.values.joined(separator: ",")))
            }
            metadata = Logger.Metadata(fields) { $1 }
        }
        for line in log.lines(result) { logger.log(level: level, "\(line)", metadata: metadata) }
    }

    /// Completed when the service has stopped.
    var whenEnded: EventLoopFuture<Void> { ended.futureResult }

    /// Starts workers and listeners. The future fails with `ServerError`.
    func start() -> EventLoopFuture<Void> {
        guard !core.isStopping else { return loop.makeSucceededVoidFuture() }
        let opened = loop.makePromise(of: Void.self)
        opening = opened
        watchWorkers()
        core.pool.open()
        return opened.futureResult.assumeIsolated().flatMap { [self] in
            core.isStopping ? loop.makeSucceededVoidFuture() : bindAll().nonisolated()
        }.map { [self] in
            if core.isStopping { return closeListeners() }
            becomeReady()
        }.flatMapErrorThrowing { [self] error in
            stop()
            throw error
        }.nonisolated()
    }

    private func becomeReady() {
        let names = settings.listeners.map { "\($0)" }.joined(separator: ", ")
        for logger in [logger, console].compactMap(\.self) { logger.notice("ready, listening on \(names)") }
        manager.notify("READY=1\nSTATUS=listening on \(names)")
        notifyWatchdog()
        countLater()
        checkLater()
    }

    private func checkLater() {
        _ = loop.assumeIsolated().scheduleTask(in: Self.checkingTime) { [self] in
            guard !isStopped else { return }
            core.pool.check()
            if core.pool.isJournalFailing { core.pool.checkJournal() }
            checkLater()
        }
    }

    private func notifyWatchdog() {
        guard let interval = manager.watchdogInterval, !isStopped else { return }
        // The event loop itself sends this, so that systemd notices if the loop hangs.
        manager.notify("WATCHDOG=1")
        _ = loop.assumeIsolated().scheduleTask(in: TimeAmount(interval)) { [self] in notifyWatchdog() }
    }

    func countExpiring() { core.pool.countExpiring() }

    private func countLater() {
        _ = loop.assumeIsolated().scheduleTask(in: Self.countingTime) { [self] in
            guard !isStopped else { return }
            countExpiring()
            countLater()
        }
    }

    /// The reason that some or all messages cannot be handled; nil if all can be handled.
    var whyNotReady: String? {
        if core.isStopping { return "stopping" }
        if let failure = core.pool.failure { return "the store cannot be used: \(failure.reason)" }
        if core.pool.isJournalFailing { return "deliveries cannot be recorded in the store" }
        return core.pool.keyFailure.map { "no private key can be used: \($0)" }
    }

    var metricsText: String {
        core.metrics.isReady = whyNotReady == nil
        core.metrics.connections = core.connections.count
        core.metrics.messagesInFlight = core.slots.used
        core.metrics.workers = core.pool.count
        return core.metrics.text
    }

    /// Replaces the workers with new ones, which open the store again. If the last replacement was less than a second ago,
    /// this happens later (`WorkerPool.renew`).
    func reload() {
        guard !core.isStopping else { return }
        manager.notify("RELOADING=1\nMONOTONIC_USEC=\(DispatchTime.now().uptimeNanoseconds / 1000)")
        core.pool.renew()
        manager.notify("READY=1")
    }

    /// Refuses new messages, lets messages in flight end within the grace period, and ends.
    func stop() {
        guard !core.isStopping else { return }
        core.isStopping = true
        manager.notify("STOPPING=1")
        opening?.succeed()
        opening = nil
        closeListeners()
        let limit = loop.assumeIsolated().scheduleTask(in: .seconds(Int64(settings.grace))) { [self] in
            // A connection without a message stays open if its client does not read the last reply.
            let (what, consequence) =
                core.slots.used > 0
                ? ("messages were still in flight", "; the mail server will send them again")
                : ("connections were still open", ", but no message was in flight")
            logger.warning("\(what) after \(settings.grace) s\(consequence)")
            core.connections.stopAll()
            endWorkers()
        }
        core.connections.drain { [self] in endWhenIdle(limit) }
    }

    /// Ends when no message is in flight. Connections alone are not enough: a message may still wait for the next hop after
    /// its mail server has disconnected.
    private func endWhenIdle(_ limit: Scheduled<Void>) {
        guard core.slots.used > 0 else {
            limit.cancel()
            return endWorkers()
        }
        _ = loop.assumeIsolated().scheduleTask(in: .milliseconds(10)) { [self] in if !isStopped { endWhenIdle(limit) } }
    }

    private func closeListeners() {
        for listener in listeners { listener.close(promise: nil) }
        for case .unix(let path) in settings.listeners.map(\.socket).prefix(listeners.count) { unlink(path) }
        listeners = []
    }

    private func endWorkers() {
        guard !isStopped else { return }
        isStopped = true
        for hop in nextHops.values { hop.close() }
        core.pool.close()
        operations?.close(promise: nil)
        waitForWorkers(until: .now() + Self.workerTime)
    }

    private func waitForWorkers(until deadline: NIODeadline) {
        guard core.pool.count > 0, NIODeadline.now() < deadline else { return ended.succeed() }
        _ = loop.assumeIsolated().scheduleTask(in: .milliseconds(10)) { [self] in waitForWorkers(until: deadline) }
    }
}
