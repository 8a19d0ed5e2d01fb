#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A source of revocation data to ask if the data at hand does not decide.
package protocol RevocationSource: Sendable {
    /// The data about the certificates at `places` of `chain`, each of which the next one issued.
    ///
    /// Callers verify all of it. A service that cannot be reached adds nothing.
    func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence

    /// The source for one verdict, on one message or on its recipients. A source with a time limit for all questions of
    /// a verdict starts a new limit; others return themselves.
    func forOneVerdict() -> any RevocationSource

    /// Whether it asks any service at all; true by default.
    func isAsking() async -> Bool
}

extension RevocationSource {
    /// The source itself, as nothing limits its time.
    package func forOneVerdict() -> any RevocationSource { self }

    /// True.
    package func isAsking() async -> Bool { true }
}

/// The data of a source about revocation.
package struct RevocationEvidence: Hashable, Sendable {
    /// Unverified lists of the issuers.
    package var certificateLists: [CertificateList] = []
    /// Unverified answers of responders.
    package var responses: [OCSPResponse] = []

    package init() {}

    /// Whether there is nothing in it.
    package var isEmpty: Bool { certificateLists.isEmpty && responses.isEmpty }
}

extension ValidationOptions {
    /// These options, with `evidence` added.
    package func with(_ evidence: RevocationEvidence) -> ValidationOptions {
        var options = self
        options.certificateLists += evidence.certificateLists.filter { !certificateLists.contains($0) }
        options.responses += evidence.responses.filter { !responses.contains($0) }
        return options
    }

    /// These options, with the data of `source` about trusted chains whose revocation status is unknown.
    ///
    /// No service is asked about other chains: an untrusted certificate must not determine where we connect to.
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
    /// Whether `issuer` bears the name of the list's issuer and signed it.
    ///
    /// libcrypto: `X509_CRL_verify`
    package func isSigned(by issuer: Certificate) -> Bool {
        self.issuer.matches(issuer.subject) && RevocationLists.verify(self, by: issuer) == true
    }
}
