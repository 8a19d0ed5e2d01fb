import PKIX
import Synchronization

/// The cache of a resident process for an open store: values that were read from it, and opened private keys.
///
/// The cache is valid as long as the change counter stays the same. The first query of a message reads that number (`StoreMoment`), and
/// another number empties the cache, so a change by another process counts for the next message. Bounded in bytes, roughly: there are two
/// generations, and when the new one is full it replaces the old one.
final class StoreCache: Sendable {
    /// The bytes that a generation holds, and the size of one value that is too large to be kept.
    private static let (generationCost, maximumCost) = (16 << 20, 8 << 20)
    /// What a value counts beside the bytes that it holds.
    private static let overhead = 512
    /// The most private keys that are kept open.
    private static let maximumKeys = 256

    private struct Entry {
        let value: any Sendable
        let cost: Int
    }

    /// A sealed key, and the certificate that it is bound to.
    struct SealedKey: Hashable {
        let bound: Fingerprint
        let sealed: [UInt8]
    }

    private struct State {
        /// The change counter that all of it belongs to; nil if there is nothing.
        var number: Int64?
        var young: [CacheKey: Entry] = [:]
        var youngCost = 0
        var old: [CacheKey: Entry] = [:]
        /// libcrypto wipes the key when the last reference goes.
        var keys: [SealedKey: PrivateKey] = [:]

        mutating func keep(_ entry: Entry, for key: CacheKey) {
            if youngCost + entry.cost > StoreCache.generationCost { (old, young, youngCost) = (young, [:], 0) }
            if let replaced = young.updateValue(entry, forKey: key) { youngCost -= replaced.cost }
            youngCost += entry.cost
        }
    }

    private let state = Mutex(State())
    private let counters = Mutex((hits: 0, misses: 0))

    /// How many questions were answered so far, and how many were not.
    var use: (hits: Int, misses: Int) { counters.withLock { $0 } }

    /// Makes the cache one for the store of `number`, and forgets values of any other number.
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

    /// The value for `key` in the store of `number`; nil if it is not remembered.
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

    /// Remembers `value` for `key`, unless the store of `number` is not the one that is remembered.
    ///
    /// - Parameter cost: the bytes that it holds, roughly.
    func keep(_ value: some Sendable, for key: CacheKey, _ number: Int64, cost: Int) {
        guard cost <= Self.maximumCost else { return }
        state.withLock { state in
            guard state.number == number else { return }
            state.keep(Entry(value: value, cost: cost + Self.overhead), for: key)
        }
    }

    /// The private key in `sealed`, opened before.
    func key(in sealed: SealedKey) -> PrivateKey? { state.withLock { $0.keys[sealed] } }

    /// Remembers an opened key, unless the store of `number` is not the one that is remembered.
    func keep(_ key: PrivateKey, from sealed: SealedKey, _ number: Int64) {
        state.withLock { state in
            guard state.number == number else { return }
            if state.keys.count >= Self.maximumKeys { state.keys = [:] }
            state.keys[sealed] = key
        }
    }
}
