import Foundation
import Synchronization

/// Runs the tasks of a command on one thread, as a rule the one that the process began with.
///
/// Who handles one mail has nothing to do at the same time. Threads of its own, each with a stack and a heap, would take
/// as long as the signature, and one would wake the other at every step.
final class CommandThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    /// Signalled for each job.
    private let arrivals = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }

    /// Runs `body`, which ends the process, and what it awaits, unless that has an executor of its own.
    func run(_ body: @escaping @Sendable () async -> Never) -> Never {
        Task(executorPreference: self) { await body() }
        while true {
            arrivals.wait()
            jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
