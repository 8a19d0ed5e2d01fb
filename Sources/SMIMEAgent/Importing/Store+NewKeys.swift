import Foundation
import InternetMessage
import PKIX
import SMIMEStore

extension Store {
    /// Checks the new keys that would replace the current key of an account. A file that claims to be another person's
    /// certificate may contain a private key, whose certificate is newer.
    ///
    /// - Throws: `AgentError.unconfirmedKey` for the first such key whose certificate is not trusted.
    func confirm(_ batch: ImportBatch, systemAnchors: Bool, at time: Date) async throws {
        for item in batch.identities {
            let certificate = item.identity.certificate
            for address in item.accounts {
                guard let account = try await accounts.account(ifAnyFor: address), account.hasName(address),
                    try await replacesCurrent(certificate, of: account, for: address, at: time)
                else { continue }
                let authorities = batch.intermediates
                let trust = try await anchors.trust(
                    judging: [certificate] + authorities,
                    systemAnchors: systemAnchors
                )
                let purpose: Certificate.KeyPurpose = certificate.canSign ? .signing : .encryption
                guard trust.judge(certificate, extra: authorities, purpose: purpose, at: time).isTrusted else {
                    throw AgentError.unconfirmedKey(certificate, for: address)
                }
            }
        }
    }

    /// Whether `account` has a current identity, and would use the new `certificate`, which is for another key, in its place.
    private func replacesCurrent(
        _ certificate: Certificate,
        of account: Account,
        for address: EmailAddress,
        at time: Date
    ) async throws -> Bool {
        let own = account.identities
        guard !own.contains(where: { $0.certificate.publicKeyDigest == certificate.publicKeyDigest }) else {
            return false
        }
        let new = AccountIdentity(
            account: account.address,
            certificate: certificate,
            isAssigned: false,
            isPinned: false,
            added: time
        )
        let verdicts = try await accounts.verdicts(on: [(own + [new]).map(\.certificate)], at: time)
        return [IdentitySelection.Purpose.signing, .encryption].contains { purpose in
            func current(_ identities: [AccountIdentity]) -> Certificate? {
                IdentitySelection.current(of: identities, for: address, purpose: purpose, at: time, verdicts: verdicts)?
                    .certificate
            }
            return current(own) != nil && current(own + [new]) == certificate
        }
    }
}

extension Account {
    /// Whether `address` is the account's address or one of its aliases, not only in a domain that is an alias.
    fileprivate func hasName(_ address: EmailAddress) -> Bool {
        self.address == address || aliases.contains { (try? AddressScope($0)) == AddressScope(address) }
    }
}
