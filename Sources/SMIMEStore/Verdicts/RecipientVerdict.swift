import PKIX

/// The verdict on a chain, as the choice of a recipient's certificate needs it.
struct RecipientVerdict: Hashable, Sendable {
    /// Whether the chain leads to an anchor, or the certificate is pinned, and nothing is wrong with it at the time.
    let isTrusted: Bool
    /// Whether a pin speaks for the certificate.
    let isPinned: Bool
    /// The revocation status; nil if it was not checked.
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
