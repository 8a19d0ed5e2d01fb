import Foundation
import LibCrypto
import PKIX

/// What verdicts on one group of certificates depend on, under given options at a given time: the evidence, its digest, and the
/// period in which it does not change.
struct VerdictBasis {
    /// The evidence to judge by, without pins.
    let trust: TrustStore
    /// What a kept verdict depends on, and how long it holds. Made on first use, since most verdicts are not kept.
    private let extent = MadeOnce<Extent>()
    private let evidence: VerdictEvidence
    private let options: VerdictOptions
    private let held: HeldLists
    private let time: Date

    /// - Parameter issuers: the `matchingKey`s of the names whose lists count.
    init(_ evidence: VerdictEvidence, with issuers: Set<[UInt8]>, under options: VerdictOptions, at time: Date) {
        let trust = evidence.trust.judging(by: options.validation(for: issuers))
        (self.trust, self.time, self.evidence, self.options) = (trust, time, evidence, options)
        held = HeldLists(trust.certificateLists + trust.options.certificateLists)
    }

    private struct Extent {
        /// The digest of the evidence and options; nil if verdicts are not kept.
        let digest: [UInt8]?
        /// The period around the time in which verdicts cannot change because something begins or ends; in seconds since 1970.
        let since, until: Int
    }

    private func makeExtent() -> Extent {
        let lists = trust.certificateLists + trust.options.certificateLists
        let system = evidence.issuers.flatMap { trust.systemAnchors?.certificates(named: $0) ?? [] }
        let authorities = trust.anchors + trust.intermediates + system
        let moments =
            authorities.map(\.notBefore) + authorities.map(\.notAfter) + lists.map(\.thisUpdate)
            + lists.compactMap(\.nextUpdate)
        let now = time.seconds
        let (since, until) = Self.limits(moments.map(\.seconds), around: now)
        // A verdict is not kept if it may change at more moments than these: a list issued after `time` has a date for each
        // revocation, and answers of responders have times and certificates of their own. Lists that cannot be read are in no digest.
        let isPlain =
            trust.responses.isEmpty && trust.unreadableLists.isEmpty
            && lists.allSatisfy { $0.thisUpdate.seconds <= now }
        let digest =
            isPlain
            ? options.digest(with: [trust.anchors, trust.intermediates, system].map { $0.map(\.fingerprint) }, lists)
            : nil
        return Extent(digest: digest, since: since, until: until)
    }

    /// The verdict that is kept in `record`, if it depends on the same basis and holds at the time.
    func kept(in record: VerdictRecord) -> RecipientVerdict? {
        guard let kept = record.kept, kept.holds(at: time.seconds), let own = digest(for: record), own == kept.basis
        else { return nil }
        return kept.verdict
    }

    /// Judges `certificate`, which is that of `record`.
    ///
    /// - Returns: the chain, and the verdict to keep; nil if none is kept.
    func judge(_ certificate: Certificate, _ record: VerdictRecord) -> (chain: ChainVerdict, new: NewVerdict?) {
        var trust = trust
        held.hold()
        if record.byPin { trust.pinned = [certificate.publicKeyDigest] }
        let judgement = trust.judgement(of: certificate, purpose: .encryption, at: time)
        guard judgement.isRepeatable else { return (judgement.verdict, nil) }
        let (now, extent) = (time.seconds, extent.value(makeExtent))
        let own = Self.limits([certificate.notBefore.seconds, certificate.notAfter.seconds], around: now)
        let (since, until) = (max(extent.since, own.since), min(extent.until, own.until))
        guard since < now, let basis = digest(for: record) else {
            return (judgement.verdict, nil)
        }
        let kept = KeptVerdict(
            verdict: RecipientVerdict(judgement.verdict),
            basis: basis,
            since: since,
            until: until
        )
        let new = NewVerdict(certificate: record.certificate, byPin: record.byPin, kept: kept)
        return (judgement.verdict, new)
    }

    /// The digest together with the fingerprint: the row may later hold another certificate.
    private func digest(for record: VerdictRecord) -> [UInt8]? {
        guard let digest = extent.value(makeExtent).digest else { return nil }
        return try? DigestAlgorithm.sha256.digest(digest + record.fingerprint + [record.byPin ? 1 : 0])
    }

    /// The last of `moments` that is not after `now`, and the first one after it. If `now` is one of `moments`, the verdict may
    /// change within this second: then nothing is kept.
    private static func limits(_ moments: [Int], around now: Int) -> (since: Int, until: Int) {
        (moments.filter { $0 <= now }.max() ?? .min, moments.filter { $0 > now }.min() ?? .max)
    }
}
