public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TrustStore {
    /// What is wrong with `certificate`, its chain to an anchor, its time, or what is known of its revocation; empty if nothing is.
    ///
    /// - Parameter others: certificates that may help to reach an anchor; never trusted.
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
