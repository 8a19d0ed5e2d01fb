#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All that a verdict depends on but the time, and what the system's anchors are just then.
struct VerdictCacheKey: Hashable {
    let store: TrustStore
    let certificate: Certificate
    let extra: [Certificate]
    let extraLists: [CertificateList]
    let responses: [OCSPResponse]
    let purpose: Certificate.KeyPurpose

    /// The verdicts of late: mails from the same people are judged again and again.
    private static let recent = BoundedCache<VerdictCacheKey, LimitedVerdict>(capacity: 256)

    /// The verdict of late that still holds at `date`; nil if there is none.
    func known(at date: Date) -> Judgement? {
        guard let known = Self.recent[self], known.holds(at: date) else { return nil }
        return known.judgement
    }

    /// Remembers what was judged at `date` for as long as nothing begins or ends that it depends on.
    ///
    /// Not if much came with the message: what others send does not fill the memory.
    func remember(_ judgement: Judgement, at date: Date) {
        let sent = ([certificate] + extra).map(\.der.count) + extraLists.map(\.der.count) + responses.map(\.der.count)
        guard sent.reduce(0, +) <= 16 << 10 else { return }
        Self.recent[self] = LimitedVerdict(judgement, self, date)
    }

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

/// A verdict, and the time in which it holds.
private struct LimitedVerdict: Sendable {
    let judgement: Judgement
    private let date: Date
    /// The last second before the verdict in which something begins or ends that it depends on, and the first one after; since 1970.
    private let since, until: Int

    /// - Parameter date: when it was given.
    init(_ judgement: Judgement, _ question: VerdictCacheKey, _ date: Date) {
        (self.judgement, self.date) = (judgement, date)
        let now = Self.second(date)
        let store = question.store
        let lists = store.certificateLists + store.options.certificateLists + question.extraLists
        // Answers of responders have times of their own, and a list of later speaks of revocations by their dates: such a verdict is one
        // of its instant.
        let isPlain =
            store.responses.isEmpty && store.options.responses.isEmpty && question.responses.isEmpty
            && lists.allSatisfy { Self.second($0.thisUpdate) <= now }
        let certificates =
            [question.certificate] + question.extra + store.anchors + store.intermediates
            + Array(store.pinnedCertificates) + judgement.verdict.certificates
        let moments =
            certificates.map(\.notBefore) + certificates.map(\.notAfter) + lists.map(\.thisUpdate)
            + lists.compactMap(\.nextUpdate)
        let seconds = moments.map(Self.second)
        // In the very second of one nothing is known of what comes before or after it.
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

    /// Whole seconds since 1970.
    private static func second(_ date: Date) -> Int { Int(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0 }
}
