#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Judges certificates against a trust store.
///
/// All judgements share one budget, so that a message with many signers cannot keep the program busy for long.
package struct PathValidator: Sendable {
    /// The trusted certificates and the validation options.
    package let store: TrustStore
    /// The budget that all judgements share.
    let budget: WorkBudget

    /// A validator with a new budget.
    package init(_ store: TrustStore) { self.init(store, WorkBudget()) }

    /// The number of paths without an error after which no further one is searched for.
    private static let maximumPaths = 8

    private init(_ store: TrustStore, _ budget: WorkBudget) { (self.store, self.budget) = (store, budget) }

    /// A validator with other `options`, which shares the budget.
    package func judging(by options: ValidationOptions) -> PathValidator {
        PathValidator(store.judging(by: options), budget)
    }

    /// A validator that uses only the pins and distrust for `names`, and shares the budget.
    package func restricted(to names: Set<String>) -> PathValidator {
        PathValidator(store.restricted(to: names), budget)
    }

    /// A validator for data without a sender, signed by `certificate`. It shares the budget.
    ///
    /// The parameters are those of `TrustStore.restricted(to:signedBy:)`.
    package func restricted(to names: [Set<String>], signedBy certificate: Certificate) -> PathValidator {
        PathValidator(store.restricted(to: names, signedBy: certificate), budget)
    }

    /// Builds chains from `certificate` to a trust anchor and reports the problems of the best chain.
    ///
    /// The parameters are those of `TrustStore.judge`.
    package func judge(
        _ certificate: Certificate,
        extra: [Certificate] = [],
        extraLists: [CertificateList] = [],
        responses: [OCSPResponse] = [],
        purpose: Certificate.KeyPurpose,
        at date: Date,
        detail: TrustStore.Detail = .everything
    ) -> ChainVerdict {
        // A time that is not a number is neither earlier nor later than any other, so every certificate would seem to be valid.
        let date = date.timeIntervalSince1970.isNaN ? .distantPast : date
        let key = VerdictCacheKey(
            store: store,
            certificate: certificate,
            extra: extra,
            extraLists: extraLists,
            responses: responses,
            purpose: purpose
        )
        guard key.isBrief else { return judgeUncached(key, at: date, detail: detail).verdict }
        if let known = key.known(at: date) { return known.verdict }
        let (verdict, isRepeatable) = judgeUncached(key, at: date, detail: detail)
        // Only verdicts without an error are cached, because they do not depend on the requested detail.
        if isRepeatable, key.isSettled(by: verdict) {
            key.remember(Judgement(verdict: verdict, mayBeStored: false), at: date)
        }
        return verdict
    }

    /// Computes the verdict without the cache.
    ///
    /// - Returns: the verdict, and whether a later judgement would have the same result.
    func judgeUncached(
        _ key: VerdictCacheKey,
        at date: Date,
        detail: TrustStore.Detail
    ) -> (verdict: ChainVerdict, isRepeatable: Bool) {
        let certificate = key.certificate
        let check = PathCheck(
            store: store,
            purpose: key.purpose,
            date: date,
            lists: revocationLists(for: key),
            responses: key.responses,
            budget: budget,
            detail: detail
        )
        let pin = pin(of: certificate, check, key, date: date)
        var judged: [[Certificate]: ChainVerdict] = [:]
        // Takes the path with the fewest errors, and of these one without weak algorithms: the sender is not to blame for
        // worse paths. A revocation of the certificate itself, however, applies to every path, because the entry names the
        // issuer and the serial number, not a certificate of the issuer.
        func search(_ builder: inout PathBuilder) -> (best: ChainVerdict?, incomplete: CertificatePath?) {
            var best: ChainVerdict?
            var faultless = 0
            let incomplete = builder.search(from: certificate) { path in
                let verdict = judged[path.certificates] ?? check.judge(path, isPinned: pin.covers(path))
                judged[path.certificates] = verdict
                let isRevoked = verdict.revocation?.isFirstRevoked == true
                if isRevoked || best.map(verdict.isBetter(than:)) ?? true { best = verdict }
                faultless += verdict.faults == 0 ? 1 : 0
                return isRevoked || !check.hasEvidence && !verdict.hasFlaw || faultless >= Self.maximumPaths
            }
            return (best, incomplete)
        }
        func builder(with systemAnchors: SystemAnchors?, _ budget: WorkBudget) -> PathBuilder {
            PathBuilder(store, systemAnchors: systemAnchors, extra: key.extra, budget: budget, at: date)
        }
        // Most chains end at a trust anchor of the store, so the system's folder need not be searched. The search without the
        // system's anchors gets only a part of the budget. If it uses up this part or finds no good path, it is repeated with
        // both sets of anchors.
        if store.systemAnchors != nil, !store.anchors.isEmpty {
            let share = budget.share()
            var near = builder(with: nil, share)
            let verdict = search(&near).best
            let isWhole = !share.isSpent
            budget.reclaimUnused(of: share)
            if isWhole, let verdict, verdict.faults == 0, !verdict.isWeak || certificate.isWeak,
                verdict.revocation?.status != .unknown || !check.hasEvidence
            {
                return (issuersRevocation(verdict, check, key, date), !budget.isSpent)
            }
        }
        var far = builder(with: store.systemAnchors, budget)
        let (best, incomplete) = search(&far)
        let path = incomplete ?? CertificatePath(certificates: [certificate], end: .missing)
        var verdict = best ?? check.judge(path, isPinned: pin.covers(path))
        if verdict.faults > 0 {
            if budget.isSpent { verdict.noteEndOfSearch() }
            if let path = far.unreadableAnchors { verdict.noteUnreadableAnchor(path) }
        }
        return (issuersRevocation(verdict, check, key, date), far.isRepeatable)
    }

    /// Returns `verdict` with the revocation status that follows from the data of all known issuers, if the certificate is
    /// trusted without its issuer: revoked if one of them revoked it, otherwise good if the data of one of them says so. Such a
    /// certificate may have several issuers, and an authority's certificate that the sender made must not hide the issuer that
    /// revoked the certificate.
    private func issuersRevocation(
        _ verdict: ChainVerdict,
        _ check: PathCheck,
        _ key: VerdictCacheKey,
        _ date: Date
    ) -> ChainVerdict {
        let isTrustedAlone = verdict.trust == .pinned || verdict.trust != nil && verdict.certificates.count == 1
        guard isTrustedAlone, check.hasEvidence, verdict.revocation?.isFirstRevoked == false else { return verdict }
        var result = verdict
        /// Returns whether the data of an issuer in `paths` says that the certificate was revoked.
        func read(_ paths: [CertificatePath]) -> Bool {
            for path in paths {
                guard let revocation = check.revocation(of: path, isPinned: true) else { continue }
                let isProven = revocation.status == .good && result.revocation?.status == .unknown
                if revocation.isFirstRevoked || isProven { result.revocation = revocation }
                if revocation.isFirstRevoked { return true }
            }
            return false
        }
        var builder = PathBuilder(store, systemAnchors: nil, extra: key.extra, budget: budget, at: date)
        // For lists and responses that the issuer's own key signed, a path of two certificates suffices.
        guard !read(builder.directPaths(of: key.certificate)) else { return result }
        if result.revocation?.status == .unknown, check.lists?.hasOtherSigners == true,
            read(builder.pathsOfEachIssuer(of: key.certificate))
        {
            return result
        }
        // A sender could hide the issuer that revoked the certificate behind many others.
        if budget.isSpent { result.revocation?.markFirstUnknown() }
        return result
    }

    /// The lists that may affect the chain; nil if revocation is not checked.
    private func revocationLists(for key: VerdictCacheKey) -> RevocationLists? {
        guard store.options.revocation != .off else { return nil }
        var whole = store
        whole.add(store.options.certificateLists + key.extraLists)
        return RevocationLists(
            whole.certificateLists,
            signedBy: whole.listSigners,
            others: store.intermediates + key.extra,
            budget: budget
        )
    }
}

extension PathValidator {
    /// How a certificate is pinned.
    enum Pin {
        /// The certificate itself was pinned, or the store does not know which certificate of this key was pinned.
        case exact
        /// Another certificate with the same key was pinned, for example before a renewal.
        case key
        case none

        /// Whether the judged certificate is trusted because of the pin, even if `path` does not lead to a trust anchor.
        ///
        /// Anyone can issue a certificate for a public key. Therefore, in the case `key`, if the issuer's certificate is
        /// available, the signature must have been verified with the issuer's key.
        func covers(_ path: CertificatePath) -> Bool {
            switch self {
            case .exact: true
            case .key: path.end != .forged || path.certificates.count > 1
            case .none: false
            }
        }
    }

    /// How `certificate` is pinned. `check` determines whether the pinned certificate was revoked.
    func pin(of certificate: Certificate, _ check: PathCheck, _ cacheKey: VerdictCacheKey, date: Date) -> Pin {
        let key = certificate.publicKeyDigest
        guard store.pinned.contains(key) else { return .none }
        let originals = store.pinnedCertificates.filter { $0.publicKeyDigest == key }
        guard !originals.isEmpty, !originals.contains(certificate) else { return .exact }
        func builder() -> PathBuilder {
            PathBuilder(store, systemAnchors: nil, extra: cacheKey.extra, budget: budget, at: date)
        }
        let issuance = IssuanceCheck(budget: budget)
        guard !certificate.isSelfIssued || issuance.isSigned(certificate, by: certificate) else { return .none }
        // A certificate of the same key with another serial number does not cancel a revocation.
        let isRevoked = originals.contains { original in
            var builder = builder()
            return builder.pathsOfEachIssuer(of: original).contains {
                check.revocation(of: $0, isPinned: true)?.isFirstRevoked == true
            }
        }
        return isRevoked ? .none : .key
    }
}
