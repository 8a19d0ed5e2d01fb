import PKIX
import Synchronization

/// The cache of a long-running process for an open store: values that were read from the store, and opened private keys.
///
/// The cache is valid while the change counter stays the same. The first query of each message reads the counter
/// (`MessageReads`), and a new value empties the cache. So a change by another process takes effect with the next message.
/// The size is limited approximately: there are two generations, and when the young generation is full it replaces the old
/// one.
final class StoreCache: Sendable {
    /// The size of a generation, and the maximum size of a cached value, in bytes.
    private static let (generationCost, maximumCost) = (16 << 20, 8 << 20)
    /// The overhead of each value in bytes, in addition to its own size.
    private static let overhead = 512
    /// The maximum number of opened private keys in the cache.
    private static let maximumKeys = 256

    private struct Entry {
        let value: any Sendable
        let cost: Int
    }

    /// A sealed private key, and the certificate to which it is bound.
    struct SealedKey: Hashable {
        let bound: Fingerprint
        let sealed: [UInt8]
    }

    private struct State {
        /// The change counter of all values in the cache; nil if the cache is empty.
        var number: Int64?
        var young: [CacheKey: Entry] = [:]
        var youngCost = 0
        var old: [CacheKey: Entry] = [:]
        /// libcrypto wipes a private key when its last reference is released.
        var keys: [SealedKey: PrivateKey] = [:]

        mutating func keep(_ entry: Entry, for key: CacheKey) {
            if youngCost + entry.cost > StoreCache.generationCost { (old, young, youngCost) = (young, [:], 0) }
            if let replaced = young.updateValue(entry, forKey: key) { youngCost -= replaced.cost }
            youngCost += entry.cost
        }
    }

    private let state = Mutex(State())
    private let counters = Mutex((hits: 0, misses: 0))

    /// The number of lookups that found a value, and that found none.
    var use: (hits: Int, misses: Int) { counters.withLock { $0 } }

    /// Prepares the cache for the change counter `number`: removes all values of another counter.
    func enter(_ number: Int64) {
        let forgotten: State? = state.withLock { state in
            guard state.number != number else { return nil }
            defer { state = State(number: number) }
            return state
        }
        _ = forgotten
    }

    /// Empties the cache: a transaction of this process may have changed data without raising the counter.
    func clear() { state.withLock { $0 = State() } }

    /// The value for `key` at the change counter `number`; nil if it is not cached.
    func value<Value: Sendable>(for key: CacheKey, _ number: Int64, as type: Value.Type) -> Value? {
        let value: Value? = state.withLock { state in
            guard state.number == number else { return nil }
            if let entry = state.young[key] { return entry.value as? Value }
            guard let entry = state.old[key] else { return nil }
            state.keep(entry, for: key)
            return entry.value as? Value
        }
        counters.withLock { if value == nil { $0.misses += 1 } else { $0.hits += 1 } }
        return value
    }

    /// Caches `value` for `key`. Does nothing if the cache is for another change counter than `number`.
    ///
    /// - Parameter cost: the approximate size of the value in bytes.
    func keep(_ value: some Sendable, for key: CacheKey, _ number: Int64, cost: Int) {
        guard cost <= Self.maximumCost else { return }
        state.withLock { state in
            guard state.number == number else { return }
            state.keep(Entry(value: value, cost: cost + Self.overhead), for: key)
        }
    }

    /// The private key that was opened from `sealed` before; nil if it is not cached.
    func key(in sealed: SealedKey) -> PrivateKey? { state.withLock { $0.keys[sealed] } }

    /// Caches an opened private key. Does nothing if the cache is for another change counter than `number`.
    func keep(_ key: PrivateKey, from sealed: SealedKey, _ number: Int64) {
        state.withLock { state in
            guard state.number == number else { return }
            if state.keys.count >= Self.maximumKeys { state.keys = [:] }
            state.keys[sealed] = key
        }
    }
}
