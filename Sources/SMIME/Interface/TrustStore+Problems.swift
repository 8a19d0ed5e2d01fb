public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TrustStore {
    /// The problems of `certificate`: of its chain to an anchor, its validity, and its known revocation, with the levels that a
    /// report gives them. The certificate is acceptable if no problem is an error. Warnings are usual: without a revocation
    /// list there is the warning `revocation-unknown`.
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
        return VerdictExceptions().weigh(verdict.problems) + verdict.timeProblems + (verdict.revocation?.problems ?? [])
    }
}
