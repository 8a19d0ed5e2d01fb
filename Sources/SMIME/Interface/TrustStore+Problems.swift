public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TrustStore {
    /// What is wrong with `certificate`, its chain to an anchor, its time, or what is known of its revocation; empty if nothing is.
    ///
    /// - Parameters:
    ///   - certificate: the certificate that is judged.
    ///   - purpose: what it is to be used for.
    ///   - others: certificates that may help to reach an anchor; never trusted.
    ///   - time: when everything must be valid.
    public func problems(
        of certificate: Certificate,
        for purpose: Certificate.KeyPurpose,
        with others: [Certificate] = [],
        at time: Date = .now
    ) -> [Problem] {
        let verdict = judge(
            certificate,
            extra: others,
            purpose: purpose,
            at: time
        )
        return verdict.problems + verdict.timeProblems + (verdict.revocation?.problems ?? [])
    }
}
