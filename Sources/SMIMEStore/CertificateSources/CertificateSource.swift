import Foundation
package import PKIX

/// A source of other people's certificates in addition to the registry, such as a directory or a server.
///
/// A source does not make its certificates trusted: the chain or a pin does. The methods may block; callers wait only for
/// `timeLimit`.
package protocol CertificateSource: Sendable {
    /// The source's name in reports.
    var kind: KnownRecipient.Source { get }
    /// How long to wait for an answer.
    var timeLimit: Duration { get }

    /// The certificates for each of `addresses`, and the problems with individual certificates and addresses.
    ///
    /// - Throws: `SourceOutage` if the source is unavailable.
    func search(for addresses: [AddressScope]) throws(SourceOutage) -> SourceAnswer

    /// A short text which confirms that the source is available.
    ///
    /// - Throws: `SourceOutage`
    func state() throws(SourceOutage) -> String
}

/// The error for a source that could not be queried.
package struct SourceOutage: Error, Equatable, Sendable {
    /// The reason, which completes the message "… cannot be asked: ".
    package let reason: String
    /// Whether mail that need not be encrypted waits as well. During the outage of a local source it always waits.
    package let holdsMail: Bool

    /// - Parameter holdsMail: true if this host has a fault, or if other people may have caused the outage by what they put
    ///   into the source: they must not be able to make mail leave unencrypted.
    package init(_ reason: String, holdsMail: Bool = false) { (self.reason, self.holdsMail) = (reason, holdsMail) }
}

extension SourceOutage: LocalizedError, CustomStringConvertible {
    package var errorDescription: String? { description }
    package var description: String { reason }
}

/// The answer of a source.
package struct SourceAnswer: Sendable {
    /// The certificates, in any order.
    package var found: [FoundCertificate] = []
    /// One sentence for each unusable certificate or other problem with the source's data.
    package var warnings: [String] = []
    /// The addresses whose certificates could not be read, with the reason. It is unknown whether these addresses have
    /// certificates.
    package var outages: [AddressScope: SourceOutage] = [:]
    /// The addresses in `outages` for which the source took too long. The source is not queried about them for a while.
    package var late: Set<AddressScope> = []
    /// The addresses in `outages` about which the source was not asked, or too briefly, because of the other addresses.
    package var unasked: Set<AddressScope> = []
    /// How long the answers about these addresses may be stored, if the source limits that.
    package var lifetimes: [AddressScope: Duration] = [:]

    package init() {}
}

/// A certificate that a source has for an address or domain.
package struct FoundCertificate: Sendable {
    /// The address that the certificate is for.
    package let address: AddressScope
    /// The certificate. It has not been validated.
    package let certificate: Certificate
    /// The source of the certificate.
    package let source: KnownRecipient.Source
    /// The place of the certificate in the source, such as a file's path.
    package let detail: String
    /// CA certificates from the same place. They may complete a chain to an anchor, but are not trusted themselves.
    package let authorities: [Certificate]
    /// The position of the source in the order in which sources are queried.
    var rank = 1

    package init(
        address: AddressScope,
        certificate: Certificate,
        source: KnownRecipient.Source,
        detail: String,
        authorities: [Certificate] = []
    ) {
        self.address = address
        self.certificate = certificate
        self.source = source
        self.detail = detail
        self.authorities = authorities
    }
}

extension CertificateSource {
    /// Calls `question` on a separate thread. After the time limit the caller stops waiting; the thread continues.
    ///
    /// - Parameter limit: how long to wait; nil means `timeLimit`.
    package func ask<Answer: Sendable>(
        within limit: Duration? = nil,
        _ question: @escaping @Sendable (Self) throws(SourceOutage) -> Answer
    ) async throws(SourceOutage) -> Answer {
        let limit = limit ?? timeLimit
        let answer = Promise<Result<Answer, SourceOutage>>()
        Thread.detachNewThread {
            answer.fulfil(Result { () throws(SourceOutage) in try question(self) })
        }
        // A separate queue is needed because all threads of the global queue may be blocked.
        DispatchQueue(label: "deadline").asyncAfter(deadline: .now() + limit.timeInterval) {
            answer.fulfil(.failure(SourceOutage("no answer within \(limit.timeInterval.formatted()) s")))
        }
        return try await answer.value().get()
    }
}

/// A source on another host or in another program. It learns from queries to whom users write.
///
/// The source is not queried about addresses of this store's accounts. All queries for a message have one time limit.
/// After an answer, the query is repeated only when the cached answer has expired, or if the caller wants a new answer.
package protocol RemoteSource: CertificateSource {
    /// Identifies the settings on which answers depend. Answers with another identity are not used.
    var identity: String { get }
    /// Whether the source has certificates for whole domains, and can be queried about domains.
    var knowsDomains: Bool { get }

    /// Looks up the certificates of `addresses` in this order until `deadline`. Addresses that could not be looked up
    /// are in the answer's `outages`.
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

extension Duration {
    /// The duration in seconds.
    var timeInterval: TimeInterval {
        let (seconds, attoseconds) = components
        return TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18
    }
}
