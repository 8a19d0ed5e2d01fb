import Synchronization

/// A value that is made when it is first asked for, and then kept.
final class MadeOnce<Value: Sendable>: Sendable {
    private let made = Mutex<Value?>(nil)

    /// The value that was kept, or what `make` gives, which must always be the same.
    func value(_ make: () -> Value) -> Value {
        made.withLock { made in
            let value = made ?? make()
            made = value
            return value
        }
    }
}
