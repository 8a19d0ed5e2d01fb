package import Foundation
package import PKIX

/// Queries a fetcher for one verdict and limits the total time by which the services may delay the verdict.
///
/// A certificate may name many services that do not answer, and a message may have many signers.
package actor VerdictRevocation: RevocationSource {
    /// How long the services may delay one verdict in total. If the time limit of a single request is longer, that limit
    /// applies instead.
    package static let timeLimit = Duration.seconds(10)

    private let fetcher: @Sendable () async -> RevocationFetcher?
    private let timeLimit: Duration
    /// How long the verdict has been delayed so far.
    private var spent = Duration.zero

    /// - Parameters:
    ///   - timeLimit: how long the services may delay the verdict in total.
    ///   - fetcher: returns the fetcher; nil if no service may be asked.
    package init(
        timeLimit: Duration = VerdictRevocation.timeLimit,
        _ fetcher: @escaping @Sendable () async -> RevocationFetcher?
    ) {
        self.timeLimit = timeLimit
        self.fetcher = fetcher
    }

    /// Whether there is a fetcher.
    package func isAsking() async -> Bool { await fetcher() != nil }

    /// Queries the services while the verdict has time left.
    package func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence {
        guard let fetcher = await fetcher() else { return RevocationEvidence() }
        let start = ContinuousClock.now
        let limit = max(timeLimit, fetcher.timeLimit) - spent
        let evidence = await fetcher.evidence(on: chain, at: places, date: date, before: start + limit)
        spent += ContinuousClock.now - start
        return evidence
    }
}
