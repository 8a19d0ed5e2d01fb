import Synchronization

/// The time that libcrypto needed, by operation.
package struct CryptoTime: Equatable, Sendable {
    /// The operations of libcrypto that are measured.
    package enum Operation: String, CaseIterable, Sendable {
        case sign
        /// Verifying signatures of messages, certificates and revocation data.
        case verify
        /// Encrypting content, content-encryption keys or private keys, including key agreement and encapsulation.
        case encrypt
        /// Decrypting the same.
        case decrypt
        case digest
    }

    private var nanoseconds: [Operation: UInt64] = [:]

    package init() {}

    /// The time of one operation in nanoseconds.
    package subscript(operation: Operation) -> UInt64 {
        get { nanoseconds[operation] ?? 0 }
        set { nanoseconds[operation] = newValue == 0 ? nil : newValue }
    }

    /// The sum for each operation.
    package static func + (one: Self, other: Self) -> Self {
        Self(one) { $0 &+ other[$1] }
    }

    /// The difference for each operation; 0 if `earlier` is larger.
    package static func - (later: Self, earlier: Self) -> Self {
        Self(later) { $0 - min($0, earlier[$1]) }
    }

    private init(_ other: Self, _ change: (UInt64, Operation) -> UInt64) {
        for operation in Operation.allCases { self[operation] = change(other[operation], operation) }
    }
}

/// The time that this process has spent in libcrypto.
extension CryptoTime {
    private static let total = Mutex(CryptoTime())

    /// The elapsed time of all measured operations in this process so far, all threads together.
    package static var spent: CryptoTime { total.withLock { $0 } }

    /// Adds the time of an operation that began at `start` and ends now.
    static func count(_ operation: Operation, since start: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let time = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
        total.withLock { $0[operation] &+= time }
    }
}
