import Synchronization

/// A value that is computed on first use. If a struct contains a `SharedValue`, all copies of the struct share the value.
package final class SharedValue: Sendable {
    private let kept = Mutex<(any Sendable)?>(nil)

    package init() {}

    /// The value that `make` returned in the first call. Every call for one `SharedValue` must pass a function with the same
    /// result.
    package func value<Value: Sendable>(_ make: () -> Value) -> Value {
        kept.withLock { kept in
            if let known = kept as? Value { return known }
            let made = make()
            kept = made
            return made
        }
    }
}
