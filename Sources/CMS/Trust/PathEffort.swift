import Synchronization

/// What may be spent on looking for chains, so that those who send hundreds of authorities do not keep us for long.
///
/// One unit is about the work of checking an RSA-2048 signature.
final class PathEffort: Sendable {
    /// Enough for a thousand pairs of certificates nobody has seen before, which takes about half a second.
    private static let allowance = 5000
    /// What libcrypto takes to read two certificates.
    static let reading = 4

    private let remaining = Mutex(allowance)

    /// Whether nothing is left.
    var isSpent: Bool { remaining.withLock { $0 <= 0 } }

    func spend(_ units: Int) { remaining.withLock { $0 -= units } }
}

extension PathEffort: Hashable {
    // What was spent is no part of what a store trusts.
    static func == (one: PathEffort, other: PathEffort) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
