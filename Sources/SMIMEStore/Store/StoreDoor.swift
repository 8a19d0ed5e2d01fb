import Synchronization

/// Who is using the store. Once it is shut nobody comes in, and shutting it waits for those who are inside.
final class StoreDoor: Sendable {
    private struct State {
        var isShut = false
        var inside = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isShut: Bool { state.withLock { $0.isShut } }

    /// Goes in; false if the door is shut. Whoever is in calls `leave` in the end.
    func enter() -> Bool {
        state.withLock { state in
            guard !state.isShut else { return false }
            state.inside += 1
            return true
        }
    }

    func leave() {
        let waiting: [CheckedContinuation<Void, Never>] = state.withLock { state in
            state.inside -= 1
            guard state.inside == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.resume() }
    }

    /// Lets nobody in any more, and returns when all have left. No thread is blocked: those inside may need it to get out.
    func shut() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                state.isShut = true
                if state.inside > 0 { state.waiting.append(continuation) }
                return state.inside == 0
            }
            if isEmpty { continuation.resume() }
        }
    }
}
