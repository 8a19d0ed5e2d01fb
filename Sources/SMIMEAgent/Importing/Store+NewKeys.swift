import Foundation
import PKIX
import SMIMEStore

extension Store {
    /// Checks the new keys of accounts that have a key. A file that claims to be another person's certificate may contain a
    /// private key, which would be used once its certificate is the newest, or the only valid one.
    ///
    /// - Throws: `AgentError.unconfirmedKey` for the first such key whose certificate is not trusted, unless it has expired.
    func confirm(_ batch: ImportBatch, systemAnchors: Bool, at time: Date) async throws {
        for item in batch.identities where item.identity.certificate.notAfter >= time {
            let certificate = item.identity.certificate
            for address in item.accounts {
                let known = try await accounts.account(ifAnyFor: address)?.identities.map(\.certificate) ?? []
                let isNew = !known.contains { $0.publicKeyDigest == certificate.publicKeyDigest }
                guard isNew, !known.isEmpty else { continue }
                let authorities = batch.intermediates
                let trust = try await anchors.trust(judging: [certificate] + authorities, systemAnchors: systemAnchors)
                let purpose: Certificate.KeyPurpose = certificate.canSign ? .signing : .encryption
                guard trust.judge(certificate, extra: authorities, purpose: purpose, at: time).isTrusted else {
                    throw AgentError.unconfirmedKey(certificate, for: address)
                }
            }
        }
    }
}
