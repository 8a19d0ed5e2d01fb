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
    /// The change counter that was read last, here or by another process of the service.
    private let latest = Mutex(Int64(0))

    /// The number of lookups that found a value, and that found none.
    var use: (hits: Int, misses: Int) { counters.withLock { $0 } }

    /// Checks that the state of the database with the change counter `number` may be used.
    ///
    /// - Throws: `SQLError` of the kind `.unreachable` if the server is read-only and its state is older than the one that was
    ///   used last: a standby may not have applied the latest rules yet.
    func check(_ number: Int64, isOnReadOnlyServer: Bool) throws {
        try latest.withLock { latest in
            guard !isOnReadOnlyServer || number >= latest else {
                throw SQLError(.unreachable, "the server is a standby that lacks changes which were used before")
            }
            latest = number
        }
    }

    /// The change counter that this process read last, or a larger one that another process has reported
    /// (`noteChangeCount`).
    var latestNumber: Int64 { latest.withLock { $0 } }

    /// Notes that another process has read the change counter `number`.
    func noteChangeCount(_ number: Int64) { latest.withLock { $0 = max($0, number) } }

    /// Removes all values that were cached under another change counter than `number`.
    func removeAll(exceptUnder number: Int64) {
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

/// The key of a value in `StoreCache`: its kind, and the arguments of the query.
struct CacheKey: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case account
        case accountNamed
        case accountOfDomain
        case accountSending
        case accountSummary
        case anchor
        case authorities
        case authority
        case candidates
        case certificates
        case hasIdentities
        case hasResponses
        case keyDecisions
        case protectors
        case response
        case revocationLists
        case ruleDigest
        case rules
        case rulesOfScope
        case sealedKeys
        case sealedKeysOfKey
        case settings
    }

    let kind: Kind
    let arguments: [SQLValue]
}

/// A value that is computed when it is first needed, and then stored.
final class LazyValue<Value: Sendable>: Sendable {
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

/// The view of the store for handling one message. The first query checks whether the cache is valid.
///
/// If all values are in the cache, only the change counter is read from the database. Other values are read when they are
/// needed. If the change counter has changed by then, the rest of the message uses the newer state of the store.
final class MessageReads: Sendable {
    let cache: StoreCache
    private let seen = Mutex<Int64?>(nil)

    init(_ cache: StoreCache) { self.cache = cache }

    /// The change counter for this message; nil before the message's first query, and after a change by this process.
    var number: Int64? { seen.withLock { $0 } }

    /// Runs `body` with the cache. If a value is missing there, runs `body` again with `engine`, on this thread. Readers do
    /// not wait for writers.
    func read<Value>(_ engine: any SQLEngine, _ body: (SQLDatabase) throws -> Value) throws -> Value {
        let number = try self.number ?? note(engine.changeCounter(), of: engine)
        do { return try body(SQLDatabase(cachedIn: cache, number)) } catch is SQLDatabase.CacheMiss {}
        return try engine.readNow { database in
            let number = try note(ChangeCounter.value(in: database), of: engine)
            return try body(database.caching(in: cache, number))
        }
    }

    /// The rows of the message's first query, with the change counter in the first column, read in one round trip.
    ///
    /// - Returns: nil if this saves nothing.
    func firstRows(_ engine: any SQLEngine, _ sql: String, arguments: SQLArguments) throws -> [SQLRow]? {
        guard number == nil, let rows = try engine.rowsAtOnce(sql, arguments) else { return nil }
        try note(ChangeCounter.value(in: rows), of: engine)
        return rows
    }

    /// Empties the cache, because this process has changed the store.
    func emptyCache() {
        seen.withLock { $0 = nil }
        cache.clear()
    }

    @discardableResult
    private func note(_ number: Int64, of engine: any SQLEngine) throws -> Int64 {
        try cache.check(number, isOnReadOnlyServer: engine.isReadOnlyServer)
        seen.withLock { $0 = number }
        cache.removeAll(exceptUnder: number)
        return number
    }
}
