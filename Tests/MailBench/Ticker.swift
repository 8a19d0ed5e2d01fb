import Foundation
import Synchronization

/// Detects blocked cooperative threads. One ticking task runs for each of these threads, so that a blocked thread delays one
/// of the tasks. A separate ticking thread shows the delay due to the machine.
enum Ticker {
    private static let period = Duration.milliseconds(1)

    /// Runs `body` and returns the longest delay of a tick meanwhile, for the tasks and for the thread.
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

/// Measures the longest delay of a tick on a thread outside any pool.
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
