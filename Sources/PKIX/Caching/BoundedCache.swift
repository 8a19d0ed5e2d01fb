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

    /// - Parameter capacity: the number of values in one generation.
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

/// An encoding as a dictionary key, hashed in one piece; Swift would hash an array byte by byte.
struct EncodingKey: Hashable, Sendable {
    let bytes: [UInt8]

    func hash(into hasher: inout Hasher) { hasher.combine(all: bytes) }
}

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

/// A value that several parties may provide, such as a service and a timeout. The first value is used.
package final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: CheckedContinuation<Value, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Fulfils the promise with `value`. Later calls have no effect.
    package func fulfil(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: value)
    }

    /// Waits for the value. Only one task may wait, and one party must be certain to provide a value: cancelling the task
    /// does not end the wait.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state in
                if state.value == nil { state.waiting = continuation }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

/// The size and the times of change of a file, read at one time. If the file's content changes, its state changes.
package struct FileState: Hashable, Sendable {
    private let path: String
    private let device: dev_t
    private let node: ino_t
    /// The file's length in bytes.
    package let size: Int
    /// The times of the last changes of content and status, in seconds and nanoseconds.
    private let times: [Int]

    /// Returns nil if there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.path = path
        (device, node, size) = (status.st_dev, status.st_ino, Int(status.st_size))
        #if os(Linux)
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #else
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #endif
        times = [modified.tv_sec, modified.tv_nsec, changed.tv_sec, changed.tv_nsec]
    }
}
