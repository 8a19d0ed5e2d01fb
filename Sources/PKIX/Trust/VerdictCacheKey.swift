#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All that a verdict depends on, the time to the very instant among it; but for what the system's anchors are just then.
struct VerdictCacheKey: Hashable {
    let store: TrustStore
    let certificate: Certificate
    let extra: [Certificate]
    let extraLists: [CertificateList]
    let responses: [OCSPResponse]
    let purpose: Certificate.KeyPurpose
    let date: Date

    /// The verdicts of late: mails from the same few people are judged as of one instant where there are many of them.
    static let recent = BoundedCache<VerdictCacheKey, ChainVerdict>(capacity: 32)

    /// Whether `verdict` answers it once and for all: not if libcrypto may just have been unable to look, for want of memory.
    func isSettled(by verdict: ChainVerdict) -> Bool {
        let hasEvidence =
            ![store.certificateLists, store.options.certificateLists, extraLists].allSatisfy(\.isEmpty)
            || !store.responses.isEmpty || !store.options.responses.isEmpty || !responses.isEmpty
        return verdict.faults == 0 && (verdict.revocation?.status != .unknown || !hasEvidence)
    }

    /// Whether it is small enough to be kept, and to be compared at no great cost.
    var isBrief: Bool {
        let lists = [store.certificateLists, store.options.certificateLists, extraLists]
        let answers = [store.options.responses, responses]
        let certificates = [store.anchors, store.intermediates, extra, Array(store.pinnedCertificates)]
        let count =
            store.pinned.count + store.responses.count + lists.reduce(0) { $0 + $1.count }
            + answers.reduce(0) { $0 + $1.count } + certificates.reduce(0) { $0 + $1.count }
        guard count <= 64 else { return false }
        let sizes =
            lists.joined().map(\.der.count) + answers.joined().map(\.der.count)
            + store.responses.values.map(\.der.count) + certificates.joined().map(\.der.count)
        return sizes.reduce(certificate.der.count, +) <= 64 << 10
    }
}
