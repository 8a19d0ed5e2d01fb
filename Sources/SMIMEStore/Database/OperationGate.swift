import Synchronization

/// Counts the operations on a store that are under way, so that closing the store can wait for them.
final class OperationGate: Sendable {
    private struct State {
        var isClosed = false
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Begins an operation, which must call `end`; false if the gate is closed.
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

    /// Rejects new operations, and returns when those under way have ended. It blocks no thread: they may need it to end.
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
