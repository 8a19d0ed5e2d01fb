/// A source on another host or in another program. It learns from queries to whom users write.
///
/// The source is not queried about addresses of this store's accounts. Queries have a time limit for each message, and are
/// repeated only when the cached answer has expired.
package protocol RemoteSource: CertificateSource {
    /// Identifies the settings on which answers depend. Answers with another identity are not used.
    var identity: String { get }
    /// Whether the source has certificates for whole domains, and can be queried about domains.
    var knowsDomains: Bool { get }

    /// Looks up the certificates of `addresses` until `deadline`. Addresses that could not be looked up are in the answer's
    /// `outages`.
    ///
    /// - Throws: `SourceOutage` if the source cannot be reached at all.
    func search(
        for addresses: [AddressScope],
        until deadline: ContinuousClock.Instant
    ) throws(SourceOutage) -> SourceAnswer
}

extension RemoteSource {
    package var knowsDomains: Bool { false }

    package func search(for addresses: [AddressScope]) throws(SourceOutage) -> SourceAnswer {
        try search(for: addresses, until: .now + timeLimit)
    }
}

/// Limits the queries to remote sources, and determines how long their answers are cached.
package struct LookupLimits: Hashable, Sendable {
    /// How long all remote sources together may delay a message.
    package let budget: Duration
    /// How long certificates are used before the source is queried again.
    package let retention: Duration
    /// How long an answer without certificates is used before the source is queried again.
    package let retentionOfNone: Duration
    /// How long a source is not queried after it was unavailable.
    package static let pauseAfterOutage = Duration.seconds(60)

    package init(budget: Duration, retention: Duration, retentionOfNone: Duration) {
        self.budget = budget
        self.retention = retention
        self.retentionOfNone = retentionOfNone
    }

    /// The values that apply without settings.
    package static let standard = LookupLimits(
        budget: .seconds(10),
        retention: .seconds(3600),
        retentionOfNone: .seconds(600)
    )
}
