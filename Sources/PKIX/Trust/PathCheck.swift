#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds the problems of a path with libcrypto's verification and the additional rules of S/MIME.
///
/// RFC 8550 §4, RFC 5280 §6
struct PathCheck {
    let store: TrustStore
    let purpose: Certificate.KeyPurpose
    let date: Date
    /// The revocation lists of the store, of its options and of the message; nil if revocation is not checked.
    let lists: RevocationLists?
    /// The OCSP responses in the message.
    let responses: [OCSPResponse]
    /// The budget that all checks share.
    let budget: WorkBudget
    /// How thorough the checks are.
    let detail: TrustStore.Detail

    func judge(_ path: CertificatePath, isPinned: Bool) -> ChainVerdict {
        let leaf = path.certificates[0]
        var problems = leafProblems(leaf, isPinned: isPinned)
        var isChecked = true
        if !isPinned {
            // A path without a trust anchor has an error anyway (`endProblem`); only a full report needs libcrypto's errors.
            if path.end == .anchor || detail == .everything {
                let verification = PathVerification(path, at: date, policies: store.options.policies, budget: budget)
                problems += verification.problems
                isChecked = verification.isComplete
            }
            problems += authorityProblems(path)
            if let problem = endProblem(path) { problems.append(problem) }
        }
        let isTrustedAlone = isPinned || path.end == .anchor && path.certificates.count == 1
        if isTrustedAlone, !store.options.policies.isMet(byTrusted: leaf) {
            problems.append(PathVerification.policyProblem)
        }
        // The authorities of a pinned certificate do not matter.
        let relevant = isPinned ? Array(path.certificates.prefix(1)) : path.certificates
        problems += store.options.profile?.problems(relevant, endsAtAnchor: path.end == .anchor) ?? []
        let trust: ChainVerdict.Trust? =
            if isPinned { .pinned } else if path.end == .anchor, let last = path.certificates.last {
                .anchor(last.fingerprint)
            } else { nil }
        return ChainVerdict(
            certificates: path.certificates,
            trust: trust,
            problems: problems.worstOfEachCode,
            timeProblems: relevant.enumerated().compactMap { timeProblem($0.element, isLeaf: $0.offset == 0) },
            validity: validity(of: relevant),
            revocation: revocation(of: path, isPinned: isPinned, found: problems),
            isChecked: isChecked,
            isWeak: isWeak(path, isPinned: isPinned)
        )
    }

    /// Whether there is any list or response that may say that a certificate was revoked; false if revocation is not checked.
    var hasEvidence: Bool {
        lists.map { !$0.isEmpty || !responses.isEmpty || !store.responses.isEmpty || !store.options.responses.isEmpty }
            ?? false
    }

    /// The revocation status of `path`; nil if it is not checked.
    ///
    /// - Parameter found: the problems of the path; ignored for a pinned certificate, because its path was not checked.
    func revocation(
        of path: CertificatePath,
        isPinned: Bool,
        found: [Problem] = []
    ) -> ChainVerdict.Revocation? {
        guard let lists else { return nil }
        let isSound = path.end == .anchor && lists.hasOtherSigners && isSound(path, isPinned ? nil : found)
        let check = RevocationCheck(path, isPinned: isPinned, hasSoundAnchor: isSound, at: date)
        let isHard = store.options.revocation == .hard
        let verdict = check.verdict(
            lists,
            responses,
            asked: keptResponses(on: path) + store.options.responses,
            isHard: isHard
        )
        // An unreadable list may be the list that revokes the certificate, so the other lists are not sufficient.
        let unreadable = Set(store.unreadableLists + store.options.unreadableLists).sorted().map { text in
            isHard ? Problem(.revocationUnknown, text) : Problem(warning: .crlUnreadable, text)
        }
        return ChainVerdict.Revocation(
            status: verdict.status == .good && !unreadable.isEmpty ? .unknown : verdict.status,
            // `unreadable` is added afterwards, so that an unreadable list in the message, which has the same code, does not
            // hide these sentences.
            problems: verdict.problems.worstOfEachCode + unreadable,
            unknownPlaces: verdict.unknownPlaces,
            isFirstRevoked: verdict.isFirstRevoked,
            usesAllEvidence: verdict.usesAllEvidence && (isHard || unreadable.isEmpty),
            isCutShort: verdict.isCutShort
        )
    }

    private func isSound(_ path: CertificatePath, _ found: [Problem]?) -> Bool {
        let problems =
            found
            ?? PathVerification(path, at: date, policies: store.options.policies, budget: budget).problems
            + authorityProblems(path)
        return !problems.contains { $0.level == .error }
    }

    private func keptResponses(on path: CertificatePath) -> [OCSPResponse] {
        guard !store.responses.isEmpty else { return [] }
        return zip(path.certificates, path.certificates.dropFirst()).compactMap { certificate, issuer in
            (try? OCSPResponse.Subject(certificate, issuedBy: issuer)).flatMap { store.responses[$0] }
        }
    }

    private func leafProblems(_ leaf: Certificate, isPinned: Bool) -> [Problem] {
        var problems: [Problem] = []
        if leaf.isCertificateAuthority {
            let text = "the certificate is a CA certificate, not a person's"
            problems.append(isPinned ? Problem(warning: .endEntityIsCA, text) : Problem(.endEntityIsCA, text))
        }
        if store.distrusted.contains(leaf.publicKeyDigest) {
            problems.append(Problem(.chainDistrusted, "the key of the certificate was distrusted by hand"))
        }
        if !leaf.admits(store.usage) {
            let what = store.usage == .mail ? "mail" : "this purpose"
            problems.append(Problem(.chainPurpose, "the certificate is not meant for \(what) (extended key usage)"))
        }
        if let usage = leaf.keyUsage, !isFit(usage, leaf.publicKeyAlgorithm) {
            let use = purpose == .signing ? "signing" : "encryption"
            problems.append(
                Problem(
                    .keyUsage,
                    "the key usage does not permit \(use) (key usage: \(usage.isEmpty ? "none" : "\(usage)"))"
                )
            )
        }
        if let problem = weakKey(leaf) { problems.append(problem) }
        return problems
    }

    private func isFit(_ usage: KeyUsage, _ key: PublicKeyAlgorithm) -> Bool {
        switch (purpose, key) {
        case (.signing, _): !usage.isDisjoint(with: [.digitalSignature, .nonRepudiation])
        case (.encryption, .ellipticCurve), (.encryption, .x25519): usage.contains(.keyAgreement)
        case (.encryption, _): usage.contains(.keyEncipherment)
        }
    }

    /// Whether a key in `path` is weak, or a signature in `path` uses SHA-1. For a pinned certificate only its own key is
    /// considered.
    private func isWeak(_ path: CertificatePath, isPinned: Bool) -> Bool {
        guard !isPinned else { return path.certificates[0].publicKeyAlgorithm.isWeak }
        let signed = path.end == .anchor ? path.certificates.dropLast() : path.certificates[...]
        return path.certificates.contains { $0.publicKeyAlgorithm.isWeak } || signed.contains { $0.isSignedWithSHA1 }
    }

    private func weakKey(_ certificate: Certificate) -> Problem? {
        let key = certificate.publicKeyAlgorithm
        guard key.isWeak else { return nil }
        let text = "the key of \(certificate.subject) is too weak: \(key)"
        return key.isBreakable ? Problem(.weakKey, text) : Problem(warning: .weakKey, text)
    }

    /// The problems of the authorities, and the weak signatures. The trust anchor's signature and extended key usage are
    /// ignored, because the user chose the anchor.
    private func authorityProblems(_ path: CertificatePath) -> [Problem] {
        var problems: [Problem] = []
        for (index, certificate) in path.certificates.enumerated() {
            let isAnchor = path.end == .anchor && index == path.certificates.count - 1
            if !isAnchor, let problem = weakSignature(certificate) { problems.append(problem) }
            guard index > 0 else { continue }
            if let problem = weakKey(certificate) { problems.append(problem) }
            let name = certificate.subject
            let maySign = certificate.keyUsage?.contains(.keyCertSign) ?? true
            if !maySign || !certificate.isCertificateAuthority {
                problems.append(
                    Problem(.chainNotCA, "\(name) issued a certificate, but its own certificate does not allow this")
                )
            }
            if !isAnchor, !certificate.admits(store.usage) {
                let what = store.usage == .mail ? "mail" : "this purpose"
                let usage = "the extended key usage of the authority \(name)"
                let text = "\(usage) does not permit it to issue certificates for \(what)"
                problems.append(Problem(.chainPurpose, text))
            }
        }
        return problems
    }

    private func weakSignature(_ certificate: Certificate) -> Problem? {
        let name = certificate.signatureAlgorithm
        if name.hasSuffix("-md5") || name.hasSuffix("-md2") {
            return Problem(.chainWeakSignature, "the certificate of \(certificate.subject) is signed with \(name)")
        }
        guard name.hasSuffix("-sha1") else { return nil }
        return Problem(warning: .chainSHA1, "the certificate of \(certificate.subject) is signed with \(name)")
    }

    private func endProblem(_ path: CertificatePath) -> Problem? {
        guard let last = path.certificates.last else { return nil }
        switch path.end {
        case .anchor: return nil
        case .forged:
            return Problem(.chainSignature, "\(last.issuer) did not sign the certificate of \(last.subject)")
        case .missing where last.isSelfIssued:
            return Problem(.chainNoAnchor, "the chain ends at \(last.subject), which is not trusted")
        case .missing:
            return Problem(.chainNoAnchor, "the issuer \(last.issuer) is not known or not trusted")
        }
    }

    private func validity(of certificates: [Certificate]) -> ChainVerdict.Validity {
        let invalid = certificates.filter { !$0.isValid(at: date) }
        if invalid.isEmpty { return .current }
        return invalid.allSatisfy { $0.notBefore > date } ? .notYet : .ended
    }

    private func timeProblem(_ certificate: Certificate, isLeaf: Bool) -> Problem? {
        guard !certificate.isValid(at: date) else { return nil }
        let name = certificate.subject
        if certificate.notBefore > date {
            let text = "\(name) is valid only from \(certificate.notBefore.timestamp)"
            return Problem(isLeaf ? .certificateNotYetValid : .chainNotYetValid, text)
        }
        let text = "\(name) expired on \(certificate.notAfter.timestamp)"
        return Problem(isLeaf ? .certificateExpired : .chainExpired, text)
    }
}

extension Certificate {
    /// Whether the key is weak, or the issuer's signature uses SHA-1, so that no path is strong.
    var isWeak: Bool { publicKeyAlgorithm.isWeak || isSignedWithSHA1 }

    fileprivate var isSignedWithSHA1: Bool { signatureAlgorithm.hasSuffix("-sha1") }
}

extension [Problem] {
    /// One problem of each code, the first of the most serious ones, so that one defect is reported only once.
    fileprivate var worstOfEachCode: [Problem] {
        var kept: [Problem] = []
        for problem in self {
            if let index = kept.firstIndex(where: { $0.code == problem.code }) {
                if kept[index].level == .warning, problem.level == .error { kept[index] = problem }
            } else {
                kept.append(problem)
            }
        }
        return kept
    }
}
