import Synchronization

/// A value that is computed when it is first needed, and then stored.
final class MadeOnce<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)

    /// The stored value. The first call stores the result of `make`, which must always return the same value.
    func value(_ make: () -> Value) -> Value {
        made.withLock { made in
            let value = made ?? make()
            made = value
            return value
        }
    }
}
