import Foundation
import NIOCore
import NIOPosix

/// A worker, from the service's side. Everything here runs on the event loop.
package final class Worker {
    /// The message that the worker is handling.
    struct CurrentJob {
        let job: WorkerJob
        let completion: (WorkerPool.Result) -> Void
    }

    let process: WorkerProcess
    private unowned let pool: WorkerPool
    private var channel: (any Channel)?
    /// Ends the worker if it takes too long for its message.
    private var timer: DeadlineTimer?
    private var current: CurrentJob?
    private var settling: [UInt64: (WorkerSettlement.Result) -> Void] = [:]
    /// Whether the worker ended while a `settle` request was unanswered. Then the worker's current message may not be
    /// the cause of the end.
    private(set) var endedSettling = false
    /// The number of messages that the worker has handled and that were not released yet. The worker may still have to
    /// record or learn something for them.
    private var unfinished = 0
    private(set) var isReady = false
    /// Whether the worker gets no more messages and ends after the current one.
    private(set) var isRetired = false
    /// Whether the worker did not answer in time although it was idle. It gets no messages until it answers.
    var isSilent = false
    /// Whether the worker was ended because a message took too long.
    private(set) var isOverTime = false
    /// Whether the worker had been waiting, and not computing, when a message took too long. Valid if `isOverTime`.
    private(set) var wasWaiting = false
    /// The time at which the worker got its current message, or its last one.
    private(set) var began = NIODeadline.distantPast
    /// The number of messages that the worker has got.
    private(set) var jobCount = 0

    init(_ process: WorkerProcess, pool: WorkerPool) {
        self.process = process
        self.pool = pool
    }

    /// The buffer is large enough for an answer with a copy of usual size, so that one system call reads the answer.
    private static let allocator = AdaptiveRecvByteBufferAllocator(
        minimum: 8 << 10,
        initial: 16 << 10,
        maximum: 64 << 10
    )

    func connect(on loop: any EventLoop) {
        let bound = NIOLoopBound(self, eventLoop: loop)
        ClientBootstrap(group: loop)
            .channelOption(.recvAllocator, value: Self.allocator)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(WorkerHandler(bound.value))
                }
            }
            .withConnectedSocket(process.socket)
            .assumeIsolated()
            .whenComplete { [self] result in
                switch result {
                case .success(let channel):
                    self.channel = channel
                    timer = DeadlineTimer(on: loop) { [weak self] in self?.endOverTime() }
                    if isRetired { closeIfDone() }
                case .failure: pool.ended(self)
                }
            }
    }

    func handle(
        _ job: WorkerJob,
        within limit: TimeAmount,
        _ completion: @escaping (WorkerPool.Result) -> Void
    ) {
        guard let channel else { return completion(.unavailable(reason: "the worker has ended")) }
        guard current == nil else { return completion(.unavailable(reason: "the worker has another message")) }
        timer?.set(limit)
        current = CurrentJob(job: job, completion: completion)
        jobCount += 1
        began = .now()
        channel.writeAndFlush(WorkerRequest.handle(job).frame, promise: nil)
    }

    /// Lets the worker do the work that remains for a message.
    func settle(_ settlement: WorkerSettlement, _ completion: @escaping (WorkerSettlement.Result) -> Void) {
        guard let channel else { return completion(.workerEnded) }
        settling[settlement.number] = completion
        channel.writeAndFlush(WorkerRequest.settle(settlement).frame, promise: nil)
    }

    /// Notes that a message which the worker handled has ended and causes no further requests.
    func release() {
        unfinished -= 1
        if isRetired { closeIfDone() }
    }

    func countExpiring() { channel?.writeAndFlush(WorkerRequest.countExpiring.frame, promise: nil) }

    func check() { channel?.writeAndFlush(WorkerRequest.check.frame, promise: nil) }

    func retire() {
        isRetired = true
        closeIfDone()
    }

    /// Called when the time limit of the current message has passed. Measures for `observationTime` whether the worker
    /// computes or waits, and then kills the worker unless it has finished the message.
    private func endOverTime() {
        let (before, start, job) = (process.busyTime, NIODeadline.now(), jobCount)
        _ = channel?.eventLoop.assumeIsolated().scheduleTask(in: pool.settings.observationTime) { [self] in
            guard channel != nil, current != nil, jobCount == job else { return }
            isOverTime = true
            if let before, let after = process.busyTime { wasWaiting = (after - before) * 2 < .now() - start }
            kill(process.identifier, SIGKILL)
        }
    }

    /// Removes and returns the message that the worker is handling, or was handling when it ended; nil if there is none.
    func takeJob() -> CurrentJob? {
        defer { current = nil }
        timer?.disarm()
        return current
    }

    /// Closes the socket for writing if no message is left. The worker first handles all earlier requests, because it
    /// reads the socket to the end.
    private func closeIfDone() {
        guard current == nil, unfinished <= 0, let channel else { return }
        channel.close(mode: .output, promise: nil)
    }

    func received(_ answer: WorkerAnswer) {
        switch answer {
        case .ready(let locksKeys):
            isReady = true
            if !locksKeys { pool.warnOfSwapping() }
            pool.started(self, failure: nil)
        case .unusable(let failure): pool.started(self, failure: failure)
        case .handled(let number, let outcome, let log):
            guard current?.job.number == number, let job = takeJob() else { return killProcess() }
            unfinished += 1
            job.completion(.answered(outcome, log, by: self))
            if isRetired { closeIfDone() } else { pool.becameIdle(self) }
        case .settled(let number, let isRecorded, let log):
            pool.onSettled(log)
            settling.removeValue(forKey: number)?(isRecorded ? .done : .notRecorded)
        case .expiring(let count): pool.onExpiring(count)
        case .checked(let obstacle): pool.checked(self, obstacle)
        }
    }

    /// Whether the worker has a message to handle.
    var isBusy: Bool { current != nil }

    /// Whether the worker can handle requests.
    var canWork: Bool { isReady && !isSilent && channel != nil }

    /// Kills the worker. Reasons: an answer cannot be parsed or belongs to another message; the worker does not answer;
    /// or it is replaced before it is ready.
    func killProcess() { kill(process.identifier, SIGKILL) }

    func disconnected() {
        channel = nil
        timer?.cancel()
        endedSettling = !settling.isEmpty
        let left = settling.values
        settling = [:]
        pool.ended(self)
        for completion in left { completion(.workerEnded) }
    }
}

/// Reads a worker's answers from its socket.
private final class WorkerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let worker: Worker
    private var received = ByteBuffer()

    init(_ worker: Worker) { self.worker = worker }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        do {
            while let frame = try WorkerFrame.next(in: &received) { worker.received(try WorkerAnswer(frame)) }
        } catch {
            worker.killProcess()
        }
        if received.readableBytes == 0 { received.clear() } else { received.discardReadBytes() }
    }

    func channelInactive(context: ChannelHandlerContext) { worker.disconnected() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
