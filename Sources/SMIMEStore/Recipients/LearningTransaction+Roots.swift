import PKIX

extension LearningTransaction {
    /// Whether `certificate` is for the key of a trusted certificate, or has the same trust anchor as one. The anchor does
    /// not suffice if a user imported or pinned a trusted certificate.
    func isUnsuspicious(
        _ certificate: Certificate,
        after peers: [KnownRecipient],
        _ sighting: SignerSighting
    ) throws -> Bool {
        let believed = peers.filter(\.isBelieved)
        if believed.contains(where: { $0.certificate.publicKeyDigest == certificate.publicKeyDigest }) { return true }
        guard believed.allSatisfy({ $0.source == .harvest && $0.trust == .chain }),
            let root = try root(above: certificate, sighting.authorities)
        else { return false }
        return try believed.contains { try self.root(above: $0.certificate, []) == root }
    }

    /// The key of the trust anchor at the end of the chain of `certificate`, even if the certificate has expired; nil if
    /// there is no such chain.
    private func root(above certificate: Certificate, _ extra: [Certificate]) throws -> PublicKeyDigest? {
        var trust = try TrustStore(judging: [certificate] + extra, systemAnchors: true, in: database)
        trust.pinned = []
        trust.options.revocation = .off
        let time = max(certificate.notBefore, min(now, certificate.notAfter))
        let verdict = trust.judge(certificate, extra: extra, purpose: .signing, at: time)
        guard case .anchor? = verdict.trust else { return nil }
        return verdict.certificates.last?.publicKeyDigest
    }
}
