public import Foundation

/// What is trusted, and what is at hand to build chains from.
///
/// It knows no clock and no hidden store: the time is an argument of `judge`, and the system's anchors are used only
/// if `systemAnchors` says where they are.
public struct TrustStore: Hashable, Sendable {
    /// Certificates that end a chain. An intermediate given here is an anchor, too.
    public var anchors: [Certificate]
    /// The keys whose end-entity certificates are trusted by themselves.
    public var pinned: Set<PublicKeyDigest>
    /// The certificates that the keys in `pinned` were pinned with, as far as they are known. A pin ends for all certificates of
    /// its key when one of these is revoked, and a certificate that is not among them must not be a forgery.
    public var pinnedCertificates: Set<Certificate> = []
    /// The keys whose certificates are never trusted, whatever chain they have.
    public var distrusted: Set<PublicKeyDigest> = []
    /// Whom a key was pinned or distrusted for, as names that compare equal; one that is not here was for
    /// everybody its certificates name. Callers that know the names use `speaking(for:)`.
    public var scopes: [PublicKeyDigest: Scopes] = [:]
    /// Certificates of authorities that may help to reach an anchor; not trusted.
    public var intermediates: [Certificate]
    /// Revocation lists at hand.
    public var certificateLists: [CertificateList]
    /// Where more revocation lists should lie that cannot be read, each as a sentence; each verdict repeats them.
    public var unreadableLists: [String] = []
    /// What responders said when they were asked before, by the `nameDigest` of the certificate it is about; checked again
    /// when it is used.
    public var responses: [Fingerprint: OCSPResponse] = [:]
    /// Where the system keeps its anchors; nil leaves them out.
    public var systemAnchors: SystemAnchors?
    /// How strictly certificates are judged.
    public var terms = ValidationOptions()
    /// What all judgements together may spend; nil if each has an effort of its own.
    private(set) var effort: WorkBudget?

    public init(
        anchors: [Certificate] = [],
        pinned: Set<PublicKeyDigest> = [],
        intermediates: [Certificate] = [],
        certificateLists: [CertificateList] = [],
        systemAnchors: SystemAnchors? = nil
    ) {
        self.anchors = anchors
        self.pinned = pinned
        self.intermediates = intermediates
        self.certificateLists = certificateLists
        self.systemAnchors = systemAnchors
    }

    /// The same for judging the signers of one message, who together may not take longer than one alone.
    public func forOneMessage() -> TrustStore {
        var store = self
        store.effort = WorkBudget()
        return store
    }

    /// The names that a key was pinned for, and those that it was distrusted for.
    public struct Scopes: Hashable, Sendable {
        /// Whom somebody compared its fingerprint for.
        public var pinned: Set<String>
        /// Whom it must not be taken for.
        public var distrusted: Set<String>

        public init(pinned: Set<String> = [], distrusted: Set<String> = []) {
            self.pinned = pinned
            self.distrusted = distrusted
        }
    }

    /// The same with the pins and the distrust that are about one of `names`: somebody who compared a fingerprint for one
    /// address has not believed all the others that the certificate claims.
    public func speaking(for names: Set<String>) -> TrustStore {
        var store = self
        for (key, scopes) in scopes {
            if scopes.pinned.isDisjoint(with: names) { store.pinned.remove(key) }
            if scopes.distrusted.isDisjoint(with: names) { store.distrusted.remove(key) }
        }
        return store
    }

    /// What the key of a certificate is wanted for.
    public enum Purpose: Sendable {
        case encryption
        case signing
    }

    /// Looks for a chain from `certificate` to an anchor and says what is wrong with the best one.
    ///
    /// - Parameters:
    ///   - extra: certificates that came with the message, in any order; never trusted.
    ///   - extraLists: revocation lists that came with the message.
    ///   - responses: what responders said, as it came with the message.
    ///   - date: the time at which everything must be valid.
    public func judge(
        _ certificate: Certificate,
        extra: [Certificate] = [],
        extraLists: [CertificateList] = [],
        responses: [OCSPResponse] = [],
        purpose: Purpose,
        at date: Date
    ) -> ChainVerdict {
        judge(
            certificate,
            extra: extra,
            extraLists: extraLists,
            responses: responses,
            purpose: purpose,
            at: date,
            detail: .everything
        )
    }

    /// How much of a verdict is worked out.
    package enum Detail: Sendable {
        /// Everything.
        case everything
        /// Trust, time and revocation. Of a chain that is not trusted in any case, not each problem: finding those takes longer
        /// than all the rest.
        case trust
    }

    /// The same, with as much detail as is asked for.
    package func judge(
        _ certificate: Certificate,
        extra: [Certificate] = [],
        extraLists: [CertificateList] = [],
        responses: [OCSPResponse] = [],
        purpose: Purpose,
        at date: Date,
        detail: Detail
    ) -> ChainVerdict {
        let question = VerdictCacheKey(
            store: self,
            certificate: certificate,
            extra: extra,
            extraLists: extraLists,
            responses: responses,
            purpose: purpose,
            date: date
        )
        let effort = effort ?? WorkBudget()
        guard question.isBrief else { return answer(question, detail, effort).verdict }
        if let known = VerdictCacheKey.recent[question] { return known }
        let (verdict, isRepeatable) = answer(question, detail, effort)
        // A verdict without a fault is the same with any detail, and no other is kept.
        if isRepeatable, question.isSettled(by: verdict) { VerdictCacheKey.recent[question] = verdict }
        return verdict
    }

    /// - Returns: the verdict, and whether the same question would be answered the same later.
    func answer(
        _ question: VerdictCacheKey,
        _ detail: Detail,
        _ effort: WorkBudget
    ) -> (verdict: ChainVerdict, isRepeatable: Bool) {
        let certificate = question.certificate
        let lists =
            terms.revocation == .off
            ? nil
            : RevocationLists(
                certificateLists + terms.certificateLists + question.extraLists,
                others: intermediates + question.extra,
                effort: effort
            )
        let inspection = PathCheck(
            store: self,
            purpose: question.purpose,
            date: question.date,
            lists: lists,
            responses: question.responses,
            effort: effort,
            detail: detail
        )
        let pin = pin(of: certificate, inspection, question)
        var judged: [[Certificate]: ChainVerdict] = [:]
        // The first without a fault, or else the one with the fewest: finding another path is no fault of the sender's.
        func judge(_ paths: [CertificatePath]) -> ChainVerdict {
            var best: ChainVerdict?
            for path in paths {
                let verdict = judged[path.certificates] ?? inspection.judge(path, isPinned: pin.covers(path))
                if path.end == .anchor { judged[path.certificates] = verdict }
                if verdict.faults == 0 { return verdict }
                if verdict.faults < best?.faults ?? .max { best = verdict }
            }
            return best
                ?? inspection.judge(
                    CertificatePath(certificates: [certificate], end: .missing),
                    isPinned: pin != .none
                )
        }
        func finder(with systemAnchors: SystemAnchors?, _ effort: WorkBudget) -> PathBuilder {
            PathBuilder(self, systemAnchors: systemAnchors, extra: question.extra, effort: effort, at: question.date)
        }
        // Most chains end at an anchor of the store, and nobody has to look for one in the system's folder. A search that
        // takes long is begun anew with both, or it would leave nothing for those.
        if systemAnchors != nil, !anchors.isEmpty {
            let share = effort.share()
            var near = finder(with: nil, share)
            let paths = near.paths(from: certificate)
            let isWhole = !share.isSpent
            effort.takeBack(share)
            if isWhole, paths.contains(where: { $0.end == .anchor }), case let verdict = judge(paths),
                verdict.faults == 0
            {
                return (verdict, !effort.isSpent)
            }
        }
        var far = finder(with: systemAnchors, effort)
        let verdict = judge(far.paths(from: certificate))
        return (verdict, far.isRepeatable)
    }
}
