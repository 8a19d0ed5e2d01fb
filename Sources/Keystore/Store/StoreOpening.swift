import Foundation
import Synchronization

/// A store that is being opened in the background while the caller does something else.
///
/// Any number of tasks may wait for it. Each gets the store, or the opening error itself, or gives up at its own
/// deadline; nobody waits forever.
public final class StoreOpening: Sendable {
    /// How long a caller waits unless told otherwise.
    public static let patience = Duration.seconds(5)

    private typealias Outcome = Result<Store, KeystoreError>

    private struct State {
        var outcome: Outcome?
        var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var next = 0
    }

    private let location: StoreLocation
    private let state = Mutex(State())

    /// Starts to open the store at `location`.
    public init(_ location: StoreLocation, mode: Store.Mode) {
        self.location = location
        // Not a task: the cooperative threads may all be busy with the caller's own work.
        DispatchQueue.global().async { [self] in
            finish(Result { () throws(KeystoreError) in try Store.openNow(location, mode: mode) })
        }
    }

    /// The store as soon as it is open.
    ///
    /// - Throws: what opening it threw; `.openingTimedOut` after `patience`.
    public func store(within patience: Duration = StoreOpening.patience) async throws(KeystoreError) -> Store {
        let outcome = await withCheckedContinuation { continuation in
            let ticket: Int? = state.withLock { state in
                guard state.outcome == nil else { return nil }
                defer { state.next += 1 }
                state.waiting[state.next] = continuation
                return state.next
            }
            guard let ticket else { return answer(continuation) }
            DispatchQueue.global().asyncAfter(deadline: .now() + patience.timeInterval) { [self] in
                let late = state.withLock { $0.waiting.removeValue(forKey: ticket) }
                late?.resume(returning: .failure(.openingTimedOut(path: location.path)))
            }
        }
        return try outcome.get()
    }

    private func answer(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { $0.outcome }
        continuation.resume(returning: outcome ?? .failure(.openingTimedOut(path: location.path)))
    }

    private func finish(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            state.outcome = outcome
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        waiting.forEach { $0.resume(returning: outcome) }
    }
}

extension Duration {
    fileprivate var timeInterval: TimeInterval {
        let (seconds, attoseconds) = components
        return TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18
    }
}
