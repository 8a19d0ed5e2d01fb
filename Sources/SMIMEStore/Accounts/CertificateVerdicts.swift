package import Foundation
package import PKIX

/// Which certificates of accounts should not be used: those that are known to be revoked, and untrusted ones. A certificate
/// with unknown revocation status is not included, because the recipient of the mail checks the status.
package struct CertificateVerdicts: Sendable, Equatable {
    private let revoked: Set<Fingerprint>
    private let untrusted: Set<Fingerprint>

    /// Verdicts with no revoked and no untrusted certificate.
    package init() {
        revoked = []
        untrusted = []
    }

    /// - Parameters:
    ///   - groups: one group for each account: the certificates from which the account can choose. Trust is checked only in
    ///     groups of two or more.
    ///   - options: whether revocation is checked, and revocation lists in addition to those of the store.
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
        // Usually there is only one certificate and no revocation evidence, so no verdict is needed.
        for certificate in hasEvidence ? certificates : choices {
            let purpose: Certificate.KeyPurpose = certificate.canSign ? .signing : .encryption
            let verdict = trust.judge(certificate, purpose: purpose, at: time)
            if hasEvidence, verdict.revocation?.status == .revoked { revoked.insert(certificate.fingerprint) }
            if choices.contains(certificate), !verdict.isTrustedNow { untrusted.insert(certificate.fingerprint) }
        }
        (self.revoked, self.untrusted) = (revoked, untrusted)
    }

    /// Whether `certificate` is known to be revoked.
    package func isRevoked(_ certificate: Certificate) -> Bool { revoked.contains(certificate.fingerprint) }

    /// Whether `certificate` is one of several in its group, and is not trusted.
    package func isUntrusted(_ certificate: Certificate) -> Bool { untrusted.contains(certificate.fingerprint) }
}

extension AccountStore {
    /// Which of the accounts' certificates are revoked or untrusted.
    ///
    /// - Parameters:
    ///   - groups: one group for each account: the certificates from which the account can choose.
    ///   - options: whether revocation is checked, and revocation lists in addition to those of the store.
    package func verdicts(
        on groups: [[Certificate]],
        at time: Date,
        under options: ValidationOptions = ValidationOptions()
    ) async throws(KeystoreError) -> CertificateVerdicts {
        try await database.read { try CertificateVerdicts(on: groups, at: time, under: options, in: $0) }
    }
}
