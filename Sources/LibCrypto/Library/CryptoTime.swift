import Synchronization

/// How long libcrypto worked, by operation.
package struct CryptoTime: Equatable, Sendable {
    /// What libcrypto did.
    package enum Operation: String, CaseIterable, Sendable {
        case sign
        /// Signatures of messages, certificates and revocation data.
        case verify
        /// Content, and the keys to it.
        case encrypt
        case decrypt
        case digest
    }

    private var nanoseconds: [Operation: UInt64] = [:]

    package init() {}

    /// The nanoseconds of one operation.
    package subscript(operation: Operation) -> UInt64 {
        get { nanoseconds[operation] ?? 0 }
        set { nanoseconds[operation] = newValue == 0 ? nil : newValue }
    }

    package static func + (one: Self, other: Self) -> Self {
        Self(one) { $0 &+ other[$1] }
    }

    package static func - (later: Self, earlier: Self) -> Self {
        Self(later) { $0 - min($0, earlier[$1]) }
    }

    private init(_ other: Self, _ change: (UInt64, Operation) -> UInt64) {
        for operation in Operation.allCases { self[operation] = change(other[operation], operation) }
    }
}

/// The time of this process.
extension CryptoTime {
    private static let total = Mutex(CryptoTime())

    /// What this process has spent so far, on all threads.
    package static var spent: CryptoTime { total.withLock { $0 } }

    /// Counts an operation that began at `start` and ends now.
    static func count(_ operation: Operation, since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let time = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
        total.withLock { $0[operation] &+= time }
    }
}
