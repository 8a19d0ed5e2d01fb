import Foundation

/// Work of a test that mostly waits for programs.
///
/// Swift's pool has one thread for each core, and a test that waits in one keeps other tests from it. This work has threads
/// of its own, as many again.
public enum BlockingWork {
    private static let places = DispatchSemaphore(value: max(2, ProcessInfo.processInfo.activeProcessorCount))

    /// Runs `work` on a thread of its own, as soon as a place is free. It must not contain expectations, since it does not
    /// belong to the test there.
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
