import InternetMessage
import PKIX
import SMIME
import SMIMEStore
import Synchronization

/// Finds the private keys with which a message is decrypted at the gateway for one recipient: those of the recipient's
/// account, then those of the account that has the whole domain.
struct GatewayKeys {
    /// The private keys that decrypt mail for one recipient.
    struct Recipient {
        /// The recipient as the mail server wrote it.
        let recipient: String
        /// The rule that permits decryption at the gateway.
        let rule: Policy.Scope
        /// Whether only authenticated encryption is decrypted, and not CBC.
        let isAuthenticatedOnly: Bool
        /// The sets of keys to try, in this order.
        let sets: [AccountKeys]
        /// The recipient, and the addresses of the recipient's account.
        let addresses: Set<EmailAddress>
        /// The reason to report if no RecipientInfo matches any of the keys.
        let reasonForNoKey: String

        /// What determines the result of decryption.
        var use: Use {
            let sets = sets.map { Use.KeySet(certificates: $0.certificates, isForDomain: $0.isForDomain) }
            return Use(sets: sets, isAuthenticatedOnly: isAuthenticatedOnly)
        }
    }

    /// The keys that are tried, in this order, and the kinds of encryption that they may decrypt.
    struct Use: Hashable {
        /// The keys of one account. To and Cc inside the encryption, if there are any, must name the recipient before the keys
        /// of the domain's account may be used.
        struct KeySet: Hashable {
            let certificates: Set<Certificate>
            let isForDomain: Bool
        }

        let sets: [KeySet]
        let isAuthenticatedOnly: Bool
    }

    let store: Store
    let provider: any KeyProvider
    /// The message's header; nil if it cannot be read.
    let header: HeaderBlock?

    /// The private keys for `recipient`; nil if `recipient` is not an address, or if no rule says that mail for the
    /// recipient is decrypted here.
    func keys(of recipient: String) async throws -> Recipient? {
        guard let address = try? EmailAddress(recipient) else { return nil }
        let found = try await store.read { snapshot -> (RulePrecedence, Account?, Account?) in
            let rules = try snapshot.rules(forSenders: [], recipients: [address])
            let closest = RulePrecedence(rules, recipient: address, sender: nil, account: nil)
            return (closest, try snapshot.account(for: address), try snapshot.account(forDomainOf: address))
        }
        guard let (way, rule) = found.0.gatewayDecryption, way != .no else { return nil }
        let domain = found.2
        // `account(for:)` returns the account of the domain for people without an account.
        let personal = found.1?.address == domain?.address ? nil : found.1
        let own = Self.addresses(of: address, in: personal, orOwnerOf: domain)
        var reasonForNoKey = "there is no account for the address"
        if personal != nil { reasonForNoKey = "encrypted for no certificate of the account" }
        var accounts = [personal].compactMap(\.self)
        if let domain {
            // The domain's key decrypts mail for all users, so an attacker could get another user's ciphertext decrypted.
            if personal == nil {
                accounts.append(domain)
                reasonForNoKey = "encrypted for no certificate of the domain"
            } else if isNamed(own) {
                accounts.append(domain)
                reasonForNoKey += " or of the domain"
            } else {
                reasonForNoKey += ", and the certificates of the domain are used only if To or Cc names the recipient"
            }
        }
        return Recipient(
            recipient: recipient,
            rule: rule.scope,
            isAuthenticatedOnly: way == .authenticated,
            sets: accounts.map { account in
                AccountKeys(
                    provider: provider,
                    certificates: Set(account.identities.map(\.certificate)),
                    isForDomain: account.address == domain?.address
                )
            },
            addresses: own,
            reasonForNoKey: reasonForNoKey
        )
    }

    /// The recipient's address, and the other addresses of the recipient's account. If the recipient has only the
    /// account of the domain, the addresses of that account are included only if the recipient is one of them.
    private static func addresses(
        of recipient: EmailAddress,
        in personal: Account?,
        orOwnerOf domain: Account?
    ) -> Set<EmailAddress> {
        guard let account = personal ?? domain else { return [recipient] }
        let all = Set([account.address] + account.aliases.compactMap { try? EmailAddress($0) })
        return personal != nil || all.contains(recipient) ? all.union([recipient]) : [recipient]
    }

    /// Whether To or Cc of the outer header names one of the recipient's addresses.
    private func isNamed(_ addresses: Set<EmailAddress>) -> Bool {
        ["To", "Cc"].contains { name in
            header.flatMap { try? $0.addresses(name) }.map { !addresses.isDisjoint(with: $0) } ?? false
        }
    }
}

/// A key provider that selects private keys itself and forwards all other requests to `provider`.
protocol KeyFilter: KeyProvider {
    var provider: any KeyProvider { get }
}

extension KeyFilter {
    func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate] {
        try await provider.certificates(for: signers)
    }

    func trust(for certificates: [Certificate]) async throws -> TrustStore {
        try await provider.trust(for: certificates)
    }

    func exceptions() async throws -> VerdictExceptions { try await provider.exceptions() }
}

/// Provides only the private keys of one account.
struct AccountKeys: KeyFilter {
    let provider: any KeyProvider
    let certificates: Set<Certificate>
    /// Whether the account has the whole domain, so that its keys decrypt mail for all users.
    let isForDomain: Bool

    func identity(for recipients: [EntityIdentifier]) async throws -> Identity? {
        let own = recipients.filter { recipient in certificates.contains { recipient.matches($0) } }
        guard let identity = try await provider.identity(for: own) else { return nil }
        return certificates.contains(identity.certificate) ? identity : nil
    }
}

/// Records the certificate of the first private key that was provided.
final class UsedKeys: KeyFilter {
    let provider: any KeyProvider
    private let used = Mutex<Certificate?>(nil)

    init(provider: any KeyProvider) { self.provider = provider }

    var first: Certificate? { used.withLock { $0 } }

    func identity(for recipients: [EntityIdentifier]) async throws -> Identity? {
        let identity = try await provider.identity(for: recipients)
        used.withLock { $0 = $0 ?? identity?.certificate }
        return identity
    }
}
