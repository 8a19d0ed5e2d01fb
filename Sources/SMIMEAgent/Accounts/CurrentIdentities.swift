package import Foundation
package import InternetMessage
package import PKIX
package import SMIMEStore

/// Which of an account's several identities are used today, and why.
package struct CurrentIdentities: Sendable {
    /// An identity that is used.
    package struct Choice: Hashable, Sendable {
        /// The purpose that the identity is used for; nil if it is used for both.
        package var purpose: IdentitySelection.Purpose?
        package let certificate: Certificate
        package let preferenceReason: IdentitySelection.PreferenceReason
    }

    /// The account.
    package let account: EmailAddress
    /// The identities in use; empty if the account has only one identity, or none that can be used.
    package let choices: [Choice]

    /// - Parameter verdicts: the known faults of the account's certificates.
    package init(of account: Account, at time: Date, verdicts: CertificateVerdicts) {
        self.account = account.address
        guard account.identities.count > 1 else {
            choices = []
            return
        }
        var found = [IdentitySelection.Purpose.signing, .encryption].compactMap { purpose -> Choice? in
            let states = IdentitySelection.judge(
                account.identities,
                for: account.address,
                purpose: purpose,
                at: time,
                verdicts: verdicts
            )
            guard let index = states.firstIndex(of: .current) else { return nil }
            let current = account.identities[index]
            let preferenceReason = IdentitySelection.preferenceReason(of: current, among: account.identities, states)
            return Choice(purpose: purpose, certificate: current.certificate, preferenceReason: preferenceReason)
        }
        if found.count == 2, found[0].certificate == found[1].certificate,
            found[0].preferenceReason == found[1].preferenceReason
        {
            found.removeLast()
            found[0].purpose = nil
        }
        choices = found
    }
}

extension Account {
    /// The certificates to renew, because at `time` plus `interval` one of the account's addresses has no identity for
    /// signing, or none for encryption. For each such address and purpose this is the current certificate or, if there
    /// is none at `time`, the one that expired last.
    package func lapsing(
        from time: Date,
        within interval: TimeInterval,
        verdicts: CertificateVerdicts
    ) -> [Certificate] {
        let addresses = [address] + aliases.compactMap { try? EmailAddress($0) }
        let purposes = [IdentitySelection.Purpose.signing, .encryption]
        let lapsing = addresses.flatMap { address in
            purposes.compactMap { purpose in
                IdentitySelection.identityToRenew(
                    of: identities,
                    for: address,
                    purpose: purpose,
                    from: time,
                    to: time.addingTimeInterval(interval),
                    verdicts: verdicts
                )?.certificate
            }
        }
        return identities.map(\.certificate).filter(lapsing.contains)
    }

    /// The account's certificates whose validity period includes `time`, if all of these are revoked; otherwise none.
    package func revokedCertificates(at time: Date, verdicts: CertificateVerdicts) -> [Certificate] {
        let valid = identities.map(\.certificate).filter { $0.isValid(at: time) }
        return valid.allSatisfy(verdicts.isRevoked) ? valid : []
    }
}

extension Store {
    /// The certificates of all accounts to renew; see `Account.lapsing`.
    package func lapsingCertificates(from time: Date, within interval: TimeInterval) async throws -> [Certificate] {
        let accounts = try await accounts.all()
        let verdicts = try await verdicts(on: accounts, at: time) { _ in }
        return accounts.flatMap { $0.lapsing(from: time, within: interval, verdicts: verdicts) }
    }

    /// The addresses and domains whose last certificate for encryption expires within `interval` before or after
    /// `time`, each with the date of that expiry.
    package func recipientExpiry(around time: Date, within interval: TimeInterval) async throws -> [AddressScope: Date]
    {
        let ends = try await recipients.addressesExpiring(
            after: time.addingTimeInterval(-interval),
            until: time.addingTimeInterval(interval)
        )
        return Dictionary(ends.map { ($0.address, $0.end) }, uniquingKeysWith: max)
    }
}
