import Synchronization

/// The sources that this process could not query recently, and does not query for a while.
///
/// The cause may exist only on this host, so the pauses are not shared with other hosts and processes.
struct SourcePauses {
    private struct Place: Hashable {
        let source: String
        /// The address that is paused; nil if the whole source is paused.
        let address: AddressScope?
    }

    private static let all = Mutex<[Place: (outage: SourceOutage, end: ContinuousClock.Instant)]>([:])
    /// The maximum number of pauses.
    private static let maximumCount = 1000

    private let source: String

    /// - Parameter source: a name of the source that is different for each store.
    init(of source: String) { self.source = source }

    /// The reason why the source is not queried about `address`; nil if it may be queried.
    func outage(about address: AddressScope) -> SourceOutage? {
        Self.all.withLock { all in
            let kept = [nil, address].compactMap { all[Place(source: source, address: $0)] }
            return kept.first { $0.end > .now }?.outage
        }
    }

    /// Pauses the source for `address`, or completely if `address` is nil.
    func note(_ outage: SourceOutage?, about address: AddressScope?) {
        guard let outage else { return }
        Self.all.withLock { all in
            if all.count >= Self.maximumCount { all = all.filter { $0.value.end > .now } }
            guard all.count < Self.maximumCount else { return }
            all[Place(source: source, address: address)] = (outage, .now + LookupLimits.pauseAfterOutage)
        }
    }
}
