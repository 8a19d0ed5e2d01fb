import LibCrypto
import Synchronization

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A verdict, and whether it may be stored in the database.
package struct Judgement: Sendable {
    /// The verdict.
    package let verdict: ChainVerdict
    /// Whether the verdict may be stored. False if the search ended early, if libcrypto failed (perhaps because of too
    /// little memory), if not all evidence was used, or if this was not determined.
    package let mayBeStored: Bool
}

extension TrustStore {
    /// The verdict on `certificate` according to the store's data alone.
    package func judgement(of certificate: Certificate, purpose: Certificate.KeyPurpose, at date: Date) -> Judgement {
        let key = VerdictCacheKey(
            store: self,
            certificate: certificate,
            extra: [],
            extraLists: [],
            responses: [],
            purpose: purpose
        )
        let isBrief = key.isBrief
        if isBrief, let known = key.known(at: date) { return known }
        let (validator, errors) = (PathValidator(self), OpenSSLError.occurrences)
        let (verdict, isSettled) = validator.answer(key, date, detail: .trust)
        let judgement = Judgement(
            verdict: verdict,
            mayBeStored: !validator.budget.isSpent && errors == OpenSSLError.occurrences && verdict.usesAllEvidence
        )
        if isBrief, isSettled, key.isSettled(by: verdict) { key.remember(judgement, at: date) }
        return judgement
    }
}

/// Keeps libcrypto's objects of revocation lists in memory, so that each list is parsed only once for many verdicts.
package final class HeldLists: Sendable {
    private let lists: [CertificateList]
    private let objects = Mutex<[Handle<X509_CRL>]?>(nil)

    package init(_ lists: [CertificateList]) { self.lists = lists }

    /// Parses the lists. Later calls do nothing.
    package func hold() {
        objects.withLock { objects in
            guard objects == nil else { return }
            objects = lists.compactMap { try? $0.object() }
        }
    }
}
