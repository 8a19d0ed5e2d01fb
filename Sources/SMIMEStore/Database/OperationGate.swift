import Synchronization

/// Counts the running operations on a store, so that closing the store can wait for them.
final class OperationGate: Sendable {
    private struct State {
        var isClosed = false
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Begins an operation. The caller must call `end` afterwards. Returns false if the gate is closed.
    func begin() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.running += 1
            return true
        }
    }

    /// Ends an operation.
    func end() {
        let waiting: [CheckedContinuation<Void, Never>] = state.withLock { state in
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Rejects new operations, and waits until the running ones have ended. Does not block a thread, because the running
    /// operations may need it.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                state.isClosed = true
                if state.running > 0 { state.waiting.append(continuation) }
                return state.running == 0
            }
            if isEmpty { continuation.resume() }
        }
    }
}
