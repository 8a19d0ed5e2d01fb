#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A source of revocation data, which is asked if the available data is insufficient.
package protocol RevocationSource: Sendable {
    /// The revocation data for the certificates at the indices `places` of `chain`, in which each certificate was issued by
    /// the next.
    ///
    /// The caller must verify all data. A service that cannot be reached contributes nothing.
    func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence

    /// The source for one verdict, that is, for one message or its recipients. If the time limit of a source applies to all
    /// questions of a verdict, the source returns a copy of itself with a new limit; other sources return themselves.
    func forOneVerdict() -> any RevocationSource

    /// Whether the source asks any service at all; true by default.
    func isAsking() async -> Bool
}

extension RevocationSource {
    /// Returns the source itself, which has no time limit.
    package func forOneVerdict() -> any RevocationSource { self }

    /// Returns true.
    package func isAsking() async -> Bool { true }
}

/// Revocation data from a source.
package struct RevocationEvidence: Hashable, Sendable {
    /// Unverified revocation lists of the issuers.
    package var certificateLists: [CertificateList] = []
    /// Unverified OCSP responses.
    package var responses: [OCSPResponse] = []

    package init() {}

    /// Whether there are neither lists nor responses.
    package var isEmpty: Bool { certificateLists.isEmpty && responses.isEmpty }
}

extension ValidationOptions {
    /// A copy of these options with `evidence` added.
    package func with(_ evidence: RevocationEvidence) -> ValidationOptions {
        var options = self
        options.certificateLists += evidence.certificateLists.filter { !certificateLists.contains($0) }
        options.responses += evidence.responses.filter { !responses.contains($0) }
        return options
    }

    /// A copy of these options, with the data that `source` has about trusted chains of unknown revocation status.
    ///
    /// No service is asked about other chains: an untrusted certificate must not determine where this program connects to.
    package func asking(_ source: (any RevocationSource)?, about verdicts: [ChainVerdict], at date: Date) async
        -> ValidationOptions
    {
        guard let source, revocation != .off else { return self }
        var options = self
        for verdict in verdicts where verdict.isTrusted {
            guard let places = verdict.revocation?.unknownPlaces, !places.isEmpty else { continue }
            options = options.with(await source.evidence(on: verdict.certificates, at: places, date: date))
        }
        return options
    }
}

extension CertificateList {
    /// Whether `issuer` has the name of the list's issuer and signed the list.
    ///
    /// libcrypto: `X509_CRL_verify`
    package func isSigned(by issuer: Certificate) -> Bool {
        self.issuer.matches(issuer.subject) && RevocationLists.verify(self, by: issuer) == true
    }
}
