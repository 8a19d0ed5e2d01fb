package import InternetMessage
import PKIX
package import SMIMEStore

extension Store {
    /// The identities that belong only to the account for `address`. Their keys are removed together with the account.
    package func identitiesOfItsOwn(_ address: EmailAddress) async throws -> [AccountIdentity] {
        let account = try await accounts.account(for: address)
        let others = try await accounts.all().filter { $0.address != account.address }
        let kept = Set(others.flatMap(\.identities).map(\.certificate.fingerprint))
        return account.identities.filter { !kept.contains($0.certificate.fingerprint) }
    }

    /// The rules for mail to the addresses of `account`. The rules remain when the account is removed.
    package func recipientRules(for account: Account) async throws -> [Policy.Rule] {
        let addresses = [account.address.text] + account.aliases.filter { !$0.hasPrefix("@") }
        let patterns = addresses.compactMap { Policy.Pattern($0) }
        return try await policy.rules().filter { rule in
            patterns.contains { rule.scope == .recipient($0) }
        }
    }
}
