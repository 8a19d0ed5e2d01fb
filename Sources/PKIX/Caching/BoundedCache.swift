import ByteStreams
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A cache for the results of a pure function.
///
/// The key must contain everything that the value depends on, so that values never become stale. Values that are not used are
/// dropped: the cache has two generations, and when the new generation is full, it replaces the old one.
package final class BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Generations {
        var young: [Key: Value] = [:]
        var old: [Key: Value] = [:]

        mutating func keep(_ value: Value, for key: Key, capacity: Int) {
            if young.count >= capacity { (old, young) = (young, [:]) }
            young[key] = value
        }
    }

    private let generations = Mutex(Generations())
    private let capacity: Int

    /// - Parameter capacity: the maximum number of values in each of the two generations.
    package init(capacity: Int) { self.capacity = capacity }

    /// The cached value for `key`. If there is none, `make` computes the value, which is then cached.
    ///
    /// - Throws: errors of `make`; then nothing is cached.
    package func value<Failure: Error>(for key: Key, _ make: () throws(Failure) -> Value) throws(Failure) -> Value {
        if let known = self[key] { return known }
        let made = try make()
        self[key] = made
        return made
    }

    /// The cached value for `key`; nil if there is none.
    package subscript(key: Key) -> Value? {
        get {
            generations.withLock { generations in
                if let value = generations.young[key] { return value }
                guard let value = generations.old[key] else { return nil }
                generations.keep(value, for: key, capacity: capacity)
                return value
            }
        }
        set {
            guard let newValue else { return }
            generations.withLock { $0.keep(newValue, for: key, capacity: capacity) }
        }
    }
}
