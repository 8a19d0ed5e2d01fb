import Foundation
import Synchronization

/// Finds out whether cooperative threads are blocked, by tasks that tick: as many as there are such threads, so that one that is
/// blocked makes one of them wait. A thread of its own that ticks beside them shows the machine's own share.
enum Ticker {
    private static let period = Duration.milliseconds(1)

    /// Runs `body`, and says how late the latest tick was meanwhile, of the tasks and of the thread.
    static func latest<Value: Sendable>(
        during body: @Sendable () async throws -> Value
    ) async throws -> (value: Value, task: Duration, thread: Duration) {
        let tasks = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in
            Task.detached {
                let clock = ContinuousClock()
                var latest = Duration.zero
                while !Task.isCancelled {
                    let start = clock.now
                    try? await Task.sleep(for: period)
                    latest = max(latest, clock.now - start - period)
                }
                return latest
            }
        }
        let thread = TickingThread(period: period)
        thread.start()
        defer {
            for task in tasks { task.cancel() }
            thread.cancel()
        }
        let value = try await body()
        var latest = Duration.zero
        for task in tasks {
            task.cancel()
            latest = max(latest, await task.value)
        }
        return (value, latest, thread.latest)
    }
}

/// How late the latest tick of a thread was, which depends on no pool.
private final class TickingThread: Sendable {
    private let period: Duration
    private let state = Mutex((latest: Duration.zero, isCancelled: false))

    init(period: Duration) { self.period = period }

    var latest: Duration { state.withLock(\.latest) }

    func cancel() { state.withLock { $0.isCancelled = true } }

    func start() {
        Thread.detachNewThread {
            let clock = ContinuousClock()
            while !self.state.withLock(\.isCancelled) {
                let start = clock.now
                Thread.sleep(forTimeInterval: self.period / .seconds(1))
                let late = clock.now - start - self.period
                self.state.withLock { $0.latest = max($0.latest, late) }
            }
        }
    }
}
