import Foundation
import NIOCore
import NIOPosix
import SMIMEGateway
import SMIMEServer
import Synchronization
import Testing

/// The pool's conclusions about the store when workers are slow, silent or busy.
@Suite(.timeLimit(.minutes(15))) struct WorkerPoolTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.any()

    /// Starts a pool of `width` to `maximum` workers, simulated by `workers`.
    private func pool(
        of workers: FakeWorkers,
        width: Int,
        maximum: Int,
        checkTime: TimeAmount = .hours(1)
    ) async throws -> NIOLoopBound<WorkerPool> {
        try await loop.submit { [loop] in
            var settings = WorkerPool.Settings(width: width, maximum: maximum)
            settings.busyCheckTime = .milliseconds(200)
            // In these tests only checks may start more workers, although answers may take long on a busy machine.
            settings.growthDelay = .hours(1)
            settings.checkTime = checkTime
            let pool = WorkerPool(on: loop, settings) { try workers.start() }
            pool.onChange = { workers.note(pool.failure?.reason) }
            pool.open()
            return NIOLoopBound(pool, eventLoop: loop)
        }
        .get()
    }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws -> Value {
        try await loop.submit(body).get()
    }

    /// Waits until `condition` holds; the suite's time limit ends a wait that would never end.
    private func wait(until condition: @escaping @Sendable () -> Bool) async throws {
        while !(try await onLoop(condition)) { try await Task.sleep(for: .milliseconds(10)) }
    }

    private func submit(_ number: UInt64, to pool: NIOLoopBound<WorkerPool>) async throws {
        try await onLoop {
            let job = WorkerJob(
                number: number,
                role: .outgoing,
                sender: "alice@example.com",
                recipients: [],
                queueName: nil,
                slot: 0,
                rescuedFrom: nil,
                content: .bytes(ByteBuffer())
            )
            pool.value.submit(job) { _ in }
        }
    }

    /// Workers that answer at once, except that the one that gets message 1 is silent from then on.
    private static func silentAtFirstMessage() -> FakeWorkers {
        let silent = Mutex(Int?.none)
        return FakeWorkers { worker, request in
            switch request {
            case .handle(let job) where job.number == 1:
                silent.withLock { $0 = worker }
                return nil
            case .handle(let job): return .handled(number: job.number, .served, WorkerLog())
            case .check: return silent.withLock { $0 == worker } ? nil : .checked(nil)
            default: return nil
            }
        }
    }

    #if os(Linux)
    @Test(arguments: [(["sleep", "600"], "waited"), (["sh", "-c", "while :; do :; done"], "computed")])
    func `a message is the cause if the worker computed for too long, but not if it only waited`(
        command: [String],
        expected: String
    ) async throws {
        var child: pid_t = 0
        let words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let status = posix_spawnp(&child, command[0], nil, nil, words, environ)
        try #require(status == 0)
        let workers = FakeWorkers(process: child) { _, _ in nil }
        let found = Mutex<String?>(nil)
        let pool = try await loop.submit { [loop] in
            var settings = WorkerPool.Settings(width: 1, maximum: 1)
            settings.timeLimit = .milliseconds(100)
            settings.observationTime = .milliseconds(500)
            // The worker answers no checks.
            settings.checkTime = .hours(1)
            let pool = WorkerPool(on: loop, settings) { try workers.start() }
            pool.open()
            return NIOLoopBound(pool, eventLoop: loop)
        }
        .get()
        try await wait { pool.value.failure == nil }
        try await onLoop {
            let job = WorkerJob(
                number: 1,
                role: .incoming,
                sender: "",
                recipients: [],
                queueName: nil,
                slot: 0,
                rescuedFrom: nil,
                content: .bytes(ByteBuffer())
            )
            pool.value.submit(job) { result in
                let text =
                    switch result {
                    case .overdue: "waited"
                    case .computedTooLong: "computed"
                    default: "\(result)"
                    }
                found.withLock { $0 = text }
            }
        }
        var information = siginfo_t()
        while waitid(P_PID, id_t(child), &information, WEXITED | WNOHANG | WNOWAIT) == 0, information.si_signo == 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
        try await onLoop { pool.value.close() }
        workers.end(0)
        try await wait { found.withLock { $0 != nil } }
        #expect(found.withLock { $0 } == expected)
    }
    #endif

    @Test func `where every worker is at a long message, a new worker says whether the store can be used`() async throws
    {
        let workers = Self.silentAtFirstMessage()
        let pool = try await pool(of: workers, width: 1, maximum: 2)
        try await wait { pool.value.failure == nil }
        try await submit(1, to: pool)
        try await wait { workers.jobCount == 1 }
        try await wait {
            pool.value.check()
            return workers.checks(of: 1) > 0
        }
        #expect(try await onLoop { pool.value.count } == 2)
        #expect(workers.notes == [nil])
        try await onLoop { pool.value.close() }
    }

    @Test func `while one worker goes on with messages, a long message at another is no sign of a silent store`()
        async throws
    {
        let workers = Self.silentAtFirstMessage()
        let pool = try await pool(of: workers, width: 2, maximum: 2)
        try await wait { workers.readyCount == 2 && pool.value.failure == nil }
        try await submit(1, to: pool)
        for number in UInt64(2)...40 {
            try await submit(number, to: pool)
            try await onLoop { pool.value.check() }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(workers.notes == [nil])
        try await onLoop { pool.value.close() }
    }

    @Test func `a hundred requests to replace the workers start each worker anew twice`() async throws {
        let workers = FakeWorkers { _, _ in nil }
        let pool = try await pool(of: workers, width: 2, maximum: 2)
        try await wait { workers.readyCount == 2 && pool.value.failure == nil }
        try await onLoop {
            pool.value.onRenewed = { workers.note("replaced") }
            for _ in 0..<100 { pool.value.renew() }
        }
        // The first request is fulfilled at once, and the others together after a second.
        try await wait { workers.readyCount == 6 }
        try await Task.sleep(for: .milliseconds(1500))
        #expect(workers.readyCount == 6)
        #expect(workers.notes.filter { $0 == "replaced" }.count == 2)
        try await onLoop { pool.value.close() }
    }

    @Test func `an idle worker that does not answer gets no messages, and another one is asked`() async throws {
        let silent = Mutex(Int?.none)
        let isArmed = Mutex(false)
        let handlers = Mutex<Set<Int>>([])
        let workers = FakeWorkers { worker, request in
            switch request {
            case .handle(let job):
                handlers.withLock { _ = $0.insert(worker) }
                return .handled(number: job.number, .served, WorkerLog())
            case .check:
                if isArmed.withLock({ $0 }) { silent.withLock { $0 = $0 ?? worker } }
                return silent.withLock { $0 == worker } ? nil : .checked(nil)
            default: return nil
            }
        }
        let pool = try await pool(of: workers, width: 2, maximum: 2, checkTime: .milliseconds(100))
        try await wait { workers.readyCount == 2 && pool.value.failure == nil }
        let before = [0, 1].map { workers.checks(of: $0) }
        isArmed.withLock { $0 = true }
        try await wait {
            pool.value.check()
            // The answer to one earlier check may still have been on its way.
            return silent.withLock { $0.map { workers.checks(of: 1 - $0) >= before[1 - $0] + 2 } ?? false }
        }
        for number in UInt64(1)...10 { try await submit(number, to: pool) }
        try await wait { workers.jobCount == 10 }
        let first = try #require(silent.withLock { $0 })
        #expect(handlers.withLock { $0 } == [1 - first])
        #expect(workers.notes == [nil])
        try await onLoop { pool.value.close() }
    }

    @Test func `where no worker answers any more, the store counts as silent until one does`() async throws {
        let silent = Mutex<Set<Int>>([])
        let workers = FakeWorkers { worker, request in
            switch request {
            case .handle: silent.withLock { _ = $0.insert(worker) }
            case .check where !silent.withLock({ $0.contains(worker) }): return .checked(nil)
            default: break
            }
            return nil
        }
        let pool = try await pool(of: workers, width: 2, maximum: 2)
        try await wait { workers.readyCount == 2 && pool.value.failure == nil }
        for number in UInt64(1)...2 { try await submit(number, to: pool) }
        try await wait { workers.jobCount == 2 }
        try await wait {
            pool.value.check()
            return pool.value.failure != nil
        }
        #expect(workers.notes.last == "the store does not answer")
        workers.say(.checked(nil), as: 0)
        try await wait { pool.value.failure == nil }
        #expect(workers.notes == [nil, "the store does not answer", nil])
        try await onLoop { pool.value.close() }
    }
}
