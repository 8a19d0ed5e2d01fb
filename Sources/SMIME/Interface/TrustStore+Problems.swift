public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TrustStore {
    /// The problems of `certificate`: of its chain to an anchor, its validity, and its known revocation; empty if there are
    /// none.
    ///
    /// - Parameters:
    ///   - certificate: the certificate to judge.
    ///   - purpose: the intended use of the certificate.
    ///   - others: untrusted certificates that may complete the chain.
    ///   - time: the time at which all certificates must be valid.
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
