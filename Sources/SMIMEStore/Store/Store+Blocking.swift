import Foundation
import Synchronization

extension Store {
    /// Runs `body` for a caller that cannot suspend, such as a callback of a C library, and waits for the result. Blocks
    /// the thread, which must not be a thread of Swift's cooperative pool.
    ///
    /// - Throws: what `body` throws; `.busy` after `timeout` (the task of `body` is then cancelled); `.insideStore` if
    ///   the store itself runs the caller's code, because the wait could only time out.
    package func blocking<Value: Sendable>(
        within timeout: Duration,
        _ body: @escaping @Sendable (Store) async throws -> Value
    ) throws -> Value {
        guard !StoreExecutor.isCurrent else { throw KeystoreError.insideStore(path: location.path) }
        let outcome = Outcome<Value>()
        let task = Task.detached { [self] in
            let result: Result<Value, any Error>
            do { result = .success(try await body(self)) } catch { result = .failure(error) }
            outcome.set(result)
        }
        guard let result = outcome.wait(within: timeout) else {
            task.cancel()
            throw KeystoreError.busy(path: location.path)
        }
        return try result.get()
    }
}

/// A result that a task sets and one thread waits for.
private final class Outcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ result: Result<Value, any Error>) {
        self.result.withLock { $0 = result }
        isThere.signal()
    }

    /// The result; nil if none was set in time.
    func wait(within timeout: Duration) -> Result<Value, any Error>? {
        guard isThere.wait(timeout: .now() + timeout.timeInterval) == .success else { return nil }
        return result.withLock { $0 }
    }
}
