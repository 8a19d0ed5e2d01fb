package import Foundation
package import PKIX

/// Asks a fetcher for one verdict, and lets all its services together delay that verdict for a limited time only.
///
/// A certificate may name many services that do not answer, and a message may have many signers.
package actor VerdictRevocation: RevocationSource {
    /// How long the services may delay one verdict in all; one answer's own limit counts where that is longer.
    package static let timeLimit = Duration.seconds(10)

    private let fetcher: @Sendable () async -> RevocationFetcher?
    private let timeLimit: Duration
    /// How long the verdict has waited.
    private var spent = Duration.zero

    /// - Parameters:
    ///   - timeLimit: how long the services may delay the verdict in all.
    ///   - fetcher: gives what asks the services; nil if none is to be asked.
    package init(
        timeLimit: Duration = VerdictRevocation.timeLimit,
        _ fetcher: @escaping @Sendable () async -> RevocationFetcher?
    ) {
        self.timeLimit = timeLimit
        self.fetcher = fetcher
    }

    /// Whether there is a fetcher.
    package func isAsking() async -> Bool { await fetcher() != nil }

    /// Asks the services as long as there is time left for the verdict.
    package func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence {
        guard let fetcher = await fetcher() else { return RevocationEvidence() }
        let start = ContinuousClock.now
        let limit = max(timeLimit, fetcher.timeLimit) - spent
        let evidence = await fetcher.evidence(on: chain, at: places, date: date, before: start + limit)
        spent += ContinuousClock.now - start
        return evidence
    }
}
