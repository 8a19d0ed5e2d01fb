import PKIX

/// The parts of a verdict on a chain that matter for choosing a recipient's certificate.
struct RecipientVerdict: Hashable, Sendable {
    /// Whether the chain leads to an anchor or the certificate is pinned, and the chain has no errors at the time.
    let isTrusted: Bool
    /// Whether the certificate is pinned.
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
