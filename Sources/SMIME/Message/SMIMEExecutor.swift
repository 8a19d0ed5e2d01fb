import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Threads for the library's long work, which keep the caller's cooperative threads free. At most one thread fewer than
/// there are processor cores is used, or one thread if there is one core.
///
/// `Message.opened`, `Message.write` and the other asynchronous calls run here automatically. Use `run` for other long work,
/// such as signing objects that are not mail:
///
/// ```swift
/// let signature = try await SMIMEExecutor.run { try CryptographicMessage.sign(document, by: alice) }
/// ```
public final class SMIMEExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// The number of jobs at the front of `jobs` that a worker has already taken.
        var taken = 0
        var workers = 0
    }

    /// The executor that the library's calls use.
    public static let shared = SMIMEExecutor(width: max(1, ProcessInfo.processInfo.activeProcessorCount - 1))

    private let width: Int
    private let state = Mutex(State())

    private init(width: Int) { self.width = width }

    /// Runs `work` on the library's threads and waits for the result without blocking a thread.
    ///
    /// - Throws: the error that `work` throws.
    public static func run<Value: Sendable, Failure: Error>(
        _ work: @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(shared) { () async throws(Failure) in try await work() }
    }

    /// Takes a job of a task that prefers this executor.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isWorkerNeeded = state.withLock { state in
            state.jobs.append(job)
            guard state.workers < width else { return false }
            state.workers += 1
            return true
        }
        if isWorkerNeeded { DispatchQueue.global().async { self.work() } }
    }

    private func work() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// The job that has waited longest; nil if there is none, in which case the worker must end.
    private func next() -> UnownedJob? {
        state.withLock { state in
            guard state.taken < state.jobs.count else {
                state.jobs.removeAll(keepingCapacity: true)
                state.taken = 0
                state.workers -= 1
                return nil
            }
            let job = state.jobs[state.taken]
            state.taken += 1
            // Taken jobs are removed in batches, so that the queue does not grow under a steady load.
            if state.taken >= 1024 {
                state.jobs.removeFirst(state.taken)
                state.taken = 0
            }
            return job
        }
    }
}

extension SMIMEError {
    /// Runs `body` on the library's own threads and converts the error that it throws to the error of the public interface.
    package static func inBackground<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws(SMIMEError) -> Value {
        do { return try await SMIMEExecutor.run(body) } catch { throw SMIMEError(error) }
    }
}
