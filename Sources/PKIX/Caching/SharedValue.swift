import Synchronization

/// A value that is computed on first use. All copies of what holds it share it.
package final class SharedValue: Sendable {
    private let kept = Mutex<(any Sendable)?>(nil)

    package init() {}

    /// The value that the first call made. Each call for one `SharedValue` must ask for the same.
    package func value<Value: Sendable>(_ make: () -> Value) -> Value {
        kept.withLock { kept in
            if let known = kept as? Value { return known }
            let made = make()
            kept = made
            return made
        }
    }
}
