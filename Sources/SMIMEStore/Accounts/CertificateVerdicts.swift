package import Foundation
package import PKIX

/// What the store knows against some certificates of ours: which of them the stored lists and answers revoke, and which are untrusted while
/// another one could be used instead. A certificate of unknown status is not among them: the recipient of the mail decides about it.
package struct CertificateVerdicts: Sendable, Equatable {
    private let revoked: Set<Fingerprint>
    private let untrusted: Set<Fingerprint>

    /// No known faults.
    package init() {
        revoked = []
        untrusted = []
    }

    /// - Parameters:
    ///   - groups: certificates that could be used for each other, as those of one account. Trust is asked for only where
    ///     there is a choice.
    ///   - options: whether revocation is checked, and lists at hand beside those of the store.
    init(on groups: [[Certificate]], at time: Date, under options: ValidationOptions, in database: SQLDatabase) throws {
        let choices = Set(groups.filter { $0.count > 1 }.joined())
        let certificates = Set(groups.joined())
        guard !choices.isEmpty || options.revocation != .off, !certificates.isEmpty else {
            (revoked, untrusted) = ([], [])
            return
        }
        let trust = try TrustStore(
            judging: Array(certificates),
            systemAnchors: !choices.isEmpty,
            in: database
        ).judging(by: options)
        let hasEvidence =
            options.revocation != .off
            && (!trust.certificateLists.isEmpty || !trust.responses.isEmpty || !options.certificateLists.isEmpty)
        var (revoked, untrusted): (Set<Fingerprint>, Set<Fingerprint>) = ([], [])
        // Usually there is only one certificate and no evidence against it, so no verdict is needed.
        for certificate in hasEvidence ? certificates : choices {
            let purpose: Certificate.KeyPurpose = certificate.canSign ? .signing : .encryption
            let verdict = trust.judge(certificate, purpose: purpose, at: time)
            if hasEvidence, verdict.revocation?.status == .revoked { revoked.insert(certificate.fingerprint) }
            if choices.contains(certificate), !verdict.isTrustedNow { untrusted.insert(certificate.fingerprint) }
        }
        (self.revoked, self.untrusted) = (revoked, untrusted)
    }

    /// Whether it is known to have been revoked.
    package func isRevoked(_ certificate: Certificate) -> Bool { revoked.contains(certificate.fingerprint) }

    /// Whether another one that is trusted goes before it.
    package func isUntrusted(_ certificate: Certificate) -> Bool { untrusted.contains(certificate.fingerprint) }
}

extension AccountStore {
    /// The known faults of our own certificates.
    ///
    /// - Parameters:
    ///   - groups: certificates that could replace each other, as those of one account, in one group.
    ///   - options: whether revocation counts, and lists in addition to those of the store.
    package func verdicts(
        on groups: [[Certificate]],
        at time: Date,
        under options: ValidationOptions = ValidationOptions()
    ) async throws(KeystoreError) -> CertificateVerdicts {
        try await database.read { try CertificateVerdicts(on: groups, at: time, under: options, in: $0) }
    }
}
