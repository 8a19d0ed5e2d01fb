#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Somebody who can be asked whether certificates were revoked, when what is at hand does not tell.
package protocol RevocationSource: Sendable {
    /// What there is to know about the certificates at `places` of `chain`, each of which the next one issued.
    ///
    /// Nothing of it is believed before it was checked. Whoever cannot be reached says nothing.
    func evidence(on chain: [Certificate], at places: [Int], date: Date) async -> RevocationEvidence

    /// What is asked for one verdict, on one message or on its recipients: a source with a time limit for all questions of a
    /// verdict begins to count anew. The source itself if there is no such limit.
    func forOneVerdict() -> any RevocationSource

    /// Whether it looks for anything at all; true unless it says otherwise.
    func isAsking() async -> Bool
}

extension RevocationSource {
    /// The source itself, as nothing limits its time.
    package func forOneVerdict() -> any RevocationSource { self }

    /// True.
    package func isAsking() async -> Bool { true }
}

/// What a source had to say about revocation.
package struct RevocationEvidence: Hashable, Sendable {
    /// Lists of the issuers, checked by whoever uses them.
    package var certificateLists: [CertificateList] = []
    /// Answers of responders, checked by whoever uses them.
    package var responses: [OCSPResponse] = []

    package init() {}

    /// Whether there is nothing in it.
    package var isEmpty: Bool { certificateLists.isEmpty && responses.isEmpty }
}

extension ValidationOptions {
    /// These terms, with `evidence` at hand.
    package func with(_ evidence: RevocationEvidence) -> ValidationOptions {
        var terms = self
        terms.certificateLists += evidence.certificateLists.filter { !certificateLists.contains($0) }
        terms.responses += evidence.responses.filter { !responses.contains($0) }
        return terms
    }

    /// These terms, with what `source` says on chains that lead to something trusted and whose revocation is unknown.
    ///
    /// About any other chain nobody is asked: whoever writes a certificate must not make us call where it says.
    package func asking(_ source: (any RevocationSource)?, about verdicts: [ChainVerdict], at date: Date) async
        -> ValidationOptions
    {
        guard let source, revocation != .off else { return self }
        var terms = self
        for verdict in verdicts where verdict.isTrusted {
            guard let places = verdict.revocation?.unknownPlaces, !places.isEmpty else { continue }
            terms = terms.with(await source.evidence(on: verdict.certificates, at: places, date: date))
        }
        return terms
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
