package import Foundation
import InternetMessage
import PKIX
package import SMIMEStore

extension Store {
    /// The known faults of the certificates of `accounts`, according to the store and to the revocation lists in the folder
    /// that a setting names. A list that cannot be read is ignored with a warning.
    package func verdicts(
        on accounts: [Account],
        at time: Date,
        warn: @Sendable (String) -> Void
    ) async throws -> CertificateVerdicts {
        var options = ValidationOptions()
        do { options.certificateLists = try await revocationLists(warn: warn) } catch let error as SettingError {
            warn("\(error)")
        }
        let groups = accounts.map { $0.identities.map(\.certificate) }
        return try await self.accounts.verdicts(on: groups, at: time, under: options)
    }

    /// Whether the store has data that a backup of accounts may lack: settings, and rules for senders without an account.
    package func hasMoreThanAccounts() async throws -> Bool {
        let settings = try await settings.all().keys.filter { $0 != RestoredCiphers.setting.rawValue }
        let accounts = Set(try await accounts.all().map(\.address.text))
        let senders = try await policy.rules().map(\.scope).filter { $0.side == "sender" }
        return !settings.isEmpty || senders.contains { !accounts.contains($0.text) }
    }
}
