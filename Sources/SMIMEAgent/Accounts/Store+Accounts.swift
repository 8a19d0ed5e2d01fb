package import CMSSyntax
package import Foundation
package import InternetMessage
import PKIX
package import SMIMEStore

extension Store {
    /// The known faults of the certificates of `accounts`, according to the store and to the revocation lists in the
    /// folder that a setting names. A list or folder that cannot be read is ignored with a warning.
    package func verdicts(
        on accounts: [Account],
        at time: Date,
        warn: @Sendable (String) -> Void
    ) async throws -> CertificateVerdicts {
        var options = ValidationOptions()
        do {
            let filed = try await filedRevocationLists(warn: warn)
            (options.certificateLists, options.unreadableLists) = (filed.all, filed.unreadable)
        } catch let error as SettingError {
            warn("\(error)")
        }
        let groups = accounts.map { $0.identities.map(\.certificate) }
        return try await self.accounts.verdicts(on: groups, at: time, under: options)
    }

    /// Whether the store has settings other than ciphers, or rules for senders without an account. A backup of accounts
    /// does not contain them.
    package func hasMoreThanAccounts() async throws -> Bool {
        let settings = try await settings.all().keys.filter { $0 != RestoredCiphers.setting.rawValue }
        let accounts = Set(try await accounts.all().map(\.address.text))
        let senders = try await policy.rules().map(\.scope).filter { $0.side == "sender" }
        return !settings.isEmpty || senders.contains { !accounts.contains($0.text) }
    }
}

extension Store {
    /// The identities that belong only to the account for `address`. Their keys are removed together with the account.
    package func exclusiveIdentities(of address: EmailAddress) async throws -> [AccountIdentity] {
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

/// The ciphers of accounts in a backup that are to be added to the setting `encryption.unknown`.
package struct RestoredCiphers: Sendable {
    package static let setting = Setting.encryptionUnknown

    /// The ciphers of the backup for accounts that have none in this store.
    package let new: [(account: EmailAddress, cipher: ContentCipher)]
    /// Descriptions of the backup's ciphers that differ from this store's ciphers. They are not restored.
    package let kept: [String]

    /// - Parameter preferences: the store's own setting.
    /// - Throws: `AgentError.unknownCipher`
    package init(_ restoration: Restoration, beside preferences: CipherPreferences, file: String) throws {
        var new: [(account: EmailAddress, cipher: ContentCipher)] = []
        var kept: [String] = []
        for (account, name) in restoration.ciphers {
            guard let cipher = ContentCipher(writable: name) else {
                throw AgentError.unknownCipher(file: file)
            }
            switch preferences.cipher(for: account) {
            case nil: new.append((account, cipher))
            case cipher?: break
            case let other?: kept.append("the store has another cipher for \(account): \(other.name)")
            }
        }
        (self.new, self.kept) = (new, kept)
    }

    /// The value of the setting after the new ciphers are added; `old` is its present value.
    package func change(_ old: String?) -> String? {
        new.reduce(old) { CipherPreferences.text($0 ?? Self.setting.standard, $1.account, cipher: $1.cipher) ?? $0 }
    }
}
