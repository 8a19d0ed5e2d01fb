import Synchronization

/// Which sources could not be asked just now by this process, and are left alone for a while.
///
/// The reason may lie on this host alone, so other hosts and processes are not told.
struct SourcePauses {
    private struct Place: Hashable {
        let source: String
        /// Nil for the source as a whole.
        let address: AddressScope?
    }

    private static let all = Mutex<[Place: (outage: SourceOutage, end: ContinuousClock.Instant)]>([:])
    /// The most that are remembered.
    private static let maximumCount = 1000

    private let source: String

    /// - Parameter source: its name, different for each store.
    init(of source: String) { self.source = source }

    /// Why the source is not asked about `address`; nil if it is.
    func outage(about address: AddressScope) -> SourceOutage? {
        Self.all.withLock { all in
            let kept = [nil, address].compactMap { all[Place(source: source, address: $0)] }
            return kept.first { $0.end > .now }?.outage
        }
    }

    /// Leaves the source alone as far as `address`, or all of it.
    func note(_ outage: SourceOutage?, about address: AddressScope?) {
        guard let outage else { return }
        Self.all.withLock { all in
            if all.count >= Self.maximumCount { all = all.filter { $0.value.end > .now } }
            guard all.count < Self.maximumCount else { return }
            all[Place(source: source, address: address)] = (outage, .now + LookupLimits.pauseAfterOutage)
        }
    }
}
