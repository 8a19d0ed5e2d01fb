import Foundation

/// Work of a test that mostly waits for programs.
///
/// Swift's thread pool has one thread for each core, and a test that blocks one of them delays other tests. This work runs on
/// other threads, as many at a time as there are cores (at least two).
public enum BlockingWork {
    private static let places = DispatchSemaphore(value: max(2, ProcessInfo.processInfo.activeProcessorCount))

    /// Runs `work` on a thread of its own, as soon as a place is free. `work` must not contain expectations, because they do
    /// not belong to the test on that thread.
    public static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                places.wait()
                defer { places.signal() }
                continuation.resume(with: Result { try work() })
            }
        }
    }
}
