#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Everything that a verdict depends on, except the time and the current contents of the system's trust anchors.
struct VerdictCacheKey: Hashable {
    let store: TrustStore
    let certificate: Certificate
    let extra: [Certificate]
    let extraLists: [CertificateList]
    let responses: [OCSPResponse]
    let purpose: Certificate.KeyPurpose

    /// Recent verdicts, because mail from the same senders is judged again and again.
    private static let recent = BoundedCache<VerdictCacheKey, LimitedVerdict>(capacity: 256)

    /// A recent verdict that is still correct at `date`; nil if there is none.
    func known(at date: Date) -> Judgement? {
        guard let known = Self.recent[self], known.holds(at: date) else { return nil }
        return known.judgement
    }

    /// Caches the judgement made at `date`, until the validity of something that it depends on begins or ends.
    ///
    /// Does nothing for more than 16 KiB of certificates, lists and responses from a message, so that senders cannot fill the
    /// memory.
    func remember(_ judgement: Judgement, at date: Date) {
        let sent = ([certificate] + extra).map(\.der.count) + extraLists.map(\.der.count) + responses.map(\.der.count)
        guard sent.reduce(0, +) <= 16 << 10 else { return }
        Self.recent[self] = LimitedVerdict(judgement, self, date: date)
    }

    /// Whether `verdict` may be cached: it has no error, and if there are lists or responses, the revocation status is known.
    /// Otherwise libcrypto may have failed because of too little memory.
    func isSettled(by verdict: ChainVerdict) -> Bool {
        let hasEvidence =
            ![store.certificateLists, store.options.certificateLists, extraLists].allSatisfy(\.isEmpty)
            || !store.responses.isEmpty || !store.options.responses.isEmpty || !responses.isEmpty
        return verdict.faults == 0 && (verdict.revocation?.status != .unknown || !hasEvidence)
    }

    /// Whether the key is small enough to be cached and compared quickly.
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

/// A verdict and the period in which it is correct.
private struct LimitedVerdict: Sendable {
    let judgement: Judgement
    private let date: Date
    /// The last second before the verdict, and the first second after it, in which the validity of something that it depends
    /// on begins or ends; in seconds since 1970.
    private let since, until: Int

    /// - Parameter date: the validation time.
    init(_ judgement: Judgement, _ key: VerdictCacheKey, date: Date) {
        (self.judgement, self.date) = (judgement, date)
        let now = Self.second(date)
        let store = key.store
        let lists = store.certificateLists + store.options.certificateLists + key.extraLists
        // OCSP responses have validity periods of their own. In a list issued after the validation time, the revocation date
        // decides whether a certificate was revoked at that time. A verdict that uses such data is correct only for its own
        // time.
        let isPlain =
            store.responses.isEmpty && store.options.responses.isEmpty && key.responses.isEmpty
            && lists.allSatisfy { Self.second($0.thisUpdate) <= now }
        let certificates =
            [key.certificate] + key.extra + store.anchors + store.intermediates
            + Array(store.pinnedCertificates) + judgement.verdict.certificates
        let moments =
            certificates.map(\.notBefore) + certificates.map(\.notAfter) + lists.map(\.thisUpdate)
            + lists.compactMap(\.nextUpdate)
        let seconds = moments.map(Self.second)
        // If a validity begins or ends in this second, the verdict may differ within the second, so it is correct only for
        // its own time.
        guard isPlain, !seconds.contains(now) else {
            (since, until) = (now, now)
            return
        }
        since = seconds.filter { $0 < now }.max() ?? .min
        until = seconds.filter { $0 > now }.min() ?? .max
    }

    func holds(at date: Date) -> Bool {
        let second = Self.second(date)
        return date == self.date || since < second && second < until
    }

    /// The time in whole seconds since 1970.
    private static func second(_ date: Date) -> Int { Int(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0 }
}
