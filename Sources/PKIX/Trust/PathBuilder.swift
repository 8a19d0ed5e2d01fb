import LibCrypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A sequence of certificates, each of which was issued by the next. If the last certificate is excessive
/// (`Certificate.isExcessive`), it has only the name of the issuer: the signature below it was not verified.
struct CertificatePath {
    enum End: Hashable {
        case anchor
        /// There are certificates with the issuer's name, but the signature cannot be verified with their keys, or the budget
        /// was exhausted first.
        case forged
        case missing
    }

    /// The certificates, beginning with the judged certificate.
    let certificates: [Certificate]
    /// How the path ends.
    let end: End
}

/// Finds the paths from a certificate to a trust anchor.
///
/// libcrypto follows the first issuer with a matching name and never backtracks, so it can miss the right one among many
/// authorities of one name. This search follows an issuer only if the signature can be verified with the issuer's key, and it
/// backtracks. The cost of each signature is spent from a budget, so the search ends soon even with hundreds of authorities
/// of one name or cycles of cross-certificates.
struct PathBuilder {
    /// The maximum length of a path, including the first and the last certificate.
    static let maximumDepth = 100
    private let date: Date
    private let anchors: Set<Fingerprint>
    private let anchorNames: Set<EncodingKey>
    private let systemAnchors: SystemAnchors?
    /// All available certificates, by the canonical form of their subjects.
    private let candidates: [EncodingKey: [Certificate]]

    private let budget: WorkBudget
    private let check: IssuanceCheck
    private var hasComplete = false
    private var isDone = false
    private var longest: CertificatePath?
    /// For each issuer of the judged certificate, a path through this issuer: a complete path, or else the longest path.
    private var branches: [Fingerprint: CertificatePath] = [:]
    private let extra: Set<Fingerprint>
    private var deadEnds: Set<Fingerprint> = []
    private var usesSystemAnchors = false
    /// The path of a file of the system's trust anchors that could not be read; nil if all were read. The file may have the
    /// anchor of a better path.
    private(set) var unreadableAnchors: String?
    /// Whether a later search would have the same result. False if the system's trust anchors, which may change, were used,
    /// or if the budget was exhausted.
    var isRepeatable: Bool { !usesSystemAnchors && !budget.isSpent }

    /// - Parameter systemAnchors: the system's trust anchors, used in addition to those of `store`; if nil, only those of
    ///   `store` are used.
    init(
        _ store: TrustStore,
        systemAnchors: SystemAnchors?,
        extra: [Certificate],
        budget: WorkBudget,
        at date: Date
    ) {
        self.date = date
        self.extra = Set(extra.map(\.fingerprint))
        self.budget = budget
        check = IssuanceCheck(budget: budget)
        anchors = Set(store.anchors.map(\.fingerprint))
        anchorNames = Set(store.anchors.map(\.subject.canonical))
        self.systemAnchors = systemAnchors
        var seen: Set<Fingerprint> = []
        let all = (store.anchors + store.intermediates + extra).filter { seen.insert($0.fingerprint).inserted }
        candidates = Dictionary(grouping: all) { $0.subject.canonical }
    }

    /// Passes each complete path to `isEnough` as soon as it is found, the most promising first, until the result is true.
    ///
    /// The caller judges each path at once, before the search for further paths uses up the budget: anyone can make
    /// certificates with an authority's name, and an unfinished search must not hide the right path.
    ///
    /// - Returns: the longest incomplete path; nil if there is a complete one.
    mutating func search(
        from certificate: Certificate,
        until isEnough: (CertificatePath) -> Bool
    ) -> CertificatePath? {
        _ = extend([certificate], isAnchor: anchors.contains(certificate.fingerprint), until: isEnough)
        return hasComplete ? nil : longest ?? CertificatePath(certificates: [certificate], end: .missing)
    }

    /// The maximum number of issuers from the message that `directPaths` and `pathsOfEachIssuer` use.
    private static let maximumIssuers = 8

    /// A path of two certificates for each key that signed `certificate`. Keys from the message come last, at most
    /// `maximumIssuers` of them.
    mutating func directPaths(of certificate: Certificate) -> [CertificatePath] {
        var keys: Set<PublicKeyDigest> = []
        let signers = issuers(of: certificate).map(\.0).filter { issuer in
            !issuer.isExcessive && !keys.contains(issuer.publicKeyDigest) && check.isSigned(certificate, by: issuer)
                && keys.insert(issuer.publicKeyDigest).inserted
        }
        let sent = signers.filter { extra.contains($0.fingerprint) }.prefix(Self.maximumIssuers)
        return (signers.filter { !extra.contains($0.fingerprint) } + sent).map {
            CertificatePath(certificates: [certificate, $0], end: .missing)
        }
    }

    /// A path through each known issuer of `certificate`, complete or not, even if `certificate` itself is a trust anchor.
    /// Issuers from the message come last, at most `maximumIssuers` of them.
    mutating func pathsOfEachIssuer(of certificate: Certificate) -> [CertificatePath] {
        _ = extend([certificate], isAnchor: false) { _ in false }
        let found = issuers(of: certificate).map(\.0.fingerprint)
        let sent = found.filter(extra.contains).prefix(Self.maximumIssuers)
        return (found.filter { !extra.contains($0) } + sent).compactMap { branches[$0] }
    }

    /// Keeps `path` in `branches` if it is better than the path through the same issuer of the judged certificate.
    private mutating func note(_ path: CertificatePath) {
        guard path.certificates.count > 1 else { return }
        let issuer = path.certificates[1].fingerprint
        let known = branches[issuer]
        guard known?.end != .anchor, path.end == .anchor || path.certificates.count > known?.certificates.count ?? 0
        else { return }
        branches[issuer] = path
    }

    /// Follows every issuer of the last certificate in `path`. Returns whether a trust anchor was reached.
    private mutating func extend(
        _ path: [Certificate],
        isAnchor: Bool,
        until isEnough: (CertificatePath) -> Bool
    ) -> Bool {
        guard let last = path.last else { return false }
        if isAnchor {
            let found = CertificatePath(certificates: path, end: .anchor)
            hasComplete = true
            note(found)
            isDone = isEnough(found)
            return true
        }
        guard !budget.isSpent, path.count < Self.maximumDepth, !deadEnds.contains(last.fingerprint), !last.isExcessive
        else { return false }
        var reached = false
        var hasIssuer = false
        let issuers = issuers(of: last)
        for (issuer, isAnchor) in issuers where !path.contains(issuer) {
            guard !isDone else { return true }
            guard !issuer.isExcessive else {
                // A path that ends here is reported only if no complete path is found. libcrypto never reads this certificate.
                if path.count >= longest?.certificates.count ?? 0 {
                    longest = CertificatePath(certificates: path + [issuer], end: .missing)
                }
                hasIssuer = true
                continue
            }
            guard check.isSigned(last, by: issuer) else { continue }
            hasIssuer = true
            note(CertificatePath(certificates: path + [issuer], end: .missing))
            if extend(path + [issuer], isAnchor: isAnchor, until: isEnough) { reached = true }
        }
        if !hasIssuer, path.count > longest?.certificates.count ?? 0 {
            // If two authorities certified each other, the issuer may be a certificate that is already in the path; that is
            // not a forgery.
            let isForged = !last.isSelfIssued && !issuers.isEmpty && !issuers.contains { path.contains($0.0) }
            longest = CertificatePath(certificates: path, end: isForged ? .forged : .missing)
        }
        if !reached { deadEnds.insert(last.fingerprint) }
        return reached
    }

    /// Whether one of the store's anchors signed `certificate`.
    private func isBelowAnchor(_ certificate: Certificate) -> Bool {
        guard anchorNames.contains(certificate.issuer.canonical), !certificate.isExcessive else { return false }
        return (candidates[certificate.issuer.canonical] ?? []).contains {
            anchors.contains($0.fingerprint) && check.isSigned(certificate, by: $0)
        }
    }

    /// The certificates with the name of `certificate`'s issuer, most promising first. The system's trust anchors are among
    /// them only if no anchor of the store has this name.
    private mutating func issuers(of certificate: Certificate) -> [(Certificate, isAnchor: Bool)] {
        var found = (candidates[certificate.issuer.canonical] ?? []).map {
            ($0, isAnchor: anchors.contains($0.fingerprint))
        }
        if !found.contains(where: \.isAnchor), let systemAnchors {
            usesSystemAnchors = true
            let ofSystem = systemAnchors.certificates(named: certificate.issuer)
            found += ofSystem.certificates.map { ($0, isAnchor: true) }
            unreadableAnchors = unreadableAnchors ?? ofSystem.unreadable
        }
        // Anyone can make certificates for an authority's key that name the anchor as their issuer. If there are several
        // certificates, those that the anchor really signed are preferred.
        let hasSeveralIssuers = found.count { !$0.isAnchor } > 1
        func rank(_ candidate: (Certificate, isAnchor: Bool)) -> Int {
            let key = candidate.0.subjectKeyIdentifier
            let fits = key != nil && key == certificate.authorityKeyIdentifier
            let isNear = hasSeveralIssuers && isBelowAnchor(candidate.0)
            return (fits ? 8 : 0) + (candidate.isAnchor ? 4 : 0) + (candidate.0.isValid(at: date) ? 2 : 0)
                + (isNear ? 1 : 0)
        }
        // Of equally promising issuers, those with keys that verify signatures faster come first.
        let ranked = found.enumerated().map { (rank: rank($1), cost: $1.0.verificationCost, place: $0, candidate: $1) }
        return ranked.sorted { ($1.rank, $0.cost, $0.place) < ($0.rank, $1.cost, $1.place) }.map(\.candidate)
    }
}
