import PKIX

extension LearningTransaction {
    /// Whether `certificate` is for a trusted key, or below the same trust anchor as the known certificate, if no user chose that
    /// one by hand.
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

    /// The key of the trust anchor that `certificate` leads to, whether it is still valid or not; nil if it leads to none.
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
