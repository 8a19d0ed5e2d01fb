import Foundation
import NIOCore
import NIOPosix

/// One worker as the service sees it. Everything here happens on the event loop.
package final class Worker {
    /// The message that the worker has.
    struct CurrentJob {
        let job: WorkerJob
        let completion: (WorkerPool.Result) -> Void
    }

    let process: WorkerProcess
    private unowned let pool: WorkerPool
    private var channel: (any Channel)?
    /// Ends a worker that takes too long for its message.
    private var timer: DeadlineTimer?
    private var current: CurrentJob?
    private var settling: [UInt64: (_ isDone: Bool) -> Void] = [:]
    /// Whether it ended while it recorded or learned something, so that its present message is not the cause.
    private(set) var endedSettling = false
    /// How many messages it handled whose end is not known yet: it may still have to record or learn something.
    private var unfinished = 0
    private(set) var isReady = false
    /// Whether it gets no more messages, and ends after the present one.
    private(set) var isRetired = false
    /// Whether it was ended because a message took too long.
    private(set) var isOverTime = false
    /// When it got its present message, or its last one.
    private(set) var began = NIODeadline.distantPast
    /// How many messages it has had.
    private(set) var jobCount = 0

    init(_ process: WorkerProcess, pool: WorkerPool) {
        self.process = process
        self.pool = pool
    }

    /// An answer with a form of the usual size comes by one call.
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
        timer?.set(limit)
        current = CurrentJob(job: job, completion: completion)
        jobCount += 1
        began = .now()
        channel.writeAndFlush(WorkerRequest.handle(job).frame, promise: nil)
    }

    /// Lets the worker record the end of a message that it handled, and calls `completion` when it has done so, or no longer can.
    func settle(
        _ number: UInt64,
        served: [String],
        learns: Bool,
        forgets: Bool = false,
        _ completion: @escaping (_ isDone: Bool) -> Void = { _ in }
    ) {
        guard let channel else { return completion(false) }
        settling[number] = completion
        channel.writeAndFlush(
            WorkerRequest.settle(number: number, served: served, learns: learns, forgets: forgets).frame,
            promise: nil
        )
    }

    /// A message that this worker handled has ended, and nothing more will be asked about it.
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

    private func endOverTime() {
        isOverTime = true
        kill(process.identifier, SIGKILL)
    }

    /// The message that the worker had when it ended.
    func takeJob() -> CurrentJob? {
        defer { current = nil }
        timer?.disarm()
        return current
    }

    /// The worker reads to the end of its socket, so what was asked for before is done.
    private func closeIfDone() {
        guard current == nil, unfinished <= 0, let channel else { return }
        channel.close(mode: .output, promise: nil)
    }

    func received(_ answer: WorkerAnswer) {
        switch answer {
        case .ready:
            isReady = true
            pool.started(self, trouble: nil)
        case .unusable(let reason, let isLasting): pool.started(self, trouble: (reason, isLasting))
        case .handled(let number, let outcome, let log):
            guard current?.job.number == number, let job = takeJob() else { return failed() }
            unfinished += 1
            job.completion(.answered(outcome, log, by: self))
            if isRetired { closeIfDone() } else { pool.becameIdle(self) }
        case .settled(let number, let log):
            pool.onSettled(log)
            settling.removeValue(forKey: number)?(true)
        case .expiring(let count): pool.onExpiring(count)
        case .checked(let obstacle): pool.checked(obstacle)
        }
    }

    /// What came from the worker cannot be read.
    func failed() { kill(process.identifier, SIGKILL) }

    func disconnected() {
        channel = nil
        timer?.cancel()
        endedSettling = !settling.isEmpty
        let left = settling.values
        settling = [:]
        for completion in left { completion(false) }
        pool.ended(self)
    }
}

/// Reads a worker's answers off its socket.
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
            worker.failed()
        }
        if received.readableBytes == 0 { received.clear() } else { received.discardReadBytes() }
    }

    func channelInactive(context: ChannelHandlerContext) { worker.disconnected() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
