import PKIX

/// What the choice of a recipient's certificate asks of the verdict on its chain.
struct RecipientVerdict: Hashable, Sendable {
    /// Whether the chain leads to an anchor, or the certificate is pinned, and nothing is wrong with it at the time.
    let isTrusted: Bool
    /// Whether a pin speaks for the certificate.
    let isPinned: Bool
    /// What is known about revocation; nil if it was not looked for.
    let revocation: ChainVerdict.Revocation.Status?
}

extension RecipientVerdict {
    init(_ verdict: ChainVerdict) {
        isTrusted = verdict.isTrustedNow
        isPinned = verdict.trust == .pinned
        revocation = verdict.revocation?.status
    }
}

extension ChainVerdict {
    /// Whether the chain leads to an anchor, and all its certificates are valid at the time of the verdict.
    var isTrustedNow: Bool { isTrusted && !timeProblems.contains { $0.level == .error } }
}
