/// A source that another program or host answers for, which learns to whom mail is written.
///
/// It is asked about no address of our own accounts, within a time for each message, and again only when an answer has ended.
package protocol RemoteSource: CertificateSource {
    /// The settings that answers depend on: answers under another one do not count.
    var identity: String { get }
    /// Whether it has certificates for whole domains, and is asked about them.
    var knowsDomains: Bool { get }

    /// The certificates for each of `addresses`, as far as there is time until `deadline`; the outages have those that were not reached.
    ///
    /// - Throws: `SourceOutage` if the whole source is missing.
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

/// How much is asked of remote sources, and for how long their answers are kept.
package struct LookupLimits: Hashable, Sendable {
    /// How long all remote sources together may hold up a message.
    package let budget: Duration
    /// How long certificates are used without asking again.
    package let retention: Duration
    /// How long it is believed that there is none.
    package let retentionOfNone: Duration
    /// How long a source that could not be asked is left alone.
    package static let pauseAfterOutage = Duration.seconds(60)

    package init(budget: Duration, retention: Duration, retentionOfNone: Duration) {
        self.budget = budget
        self.retention = retention
        self.retentionOfNone = retentionOfNone
    }

    /// The values of the settings that were not made.
    package static let standard = LookupLimits(
        budget: .seconds(10),
        retention: .seconds(3600),
        retentionOfNone: .seconds(600)
    )
}
