import Foundation

extension Store {
    /// Restores a backup of accounts into the store, as a whole or not at all.
    ///
    /// Existing data stays, and a second restore changes nothing.
    ///
    /// - Parameters:
    ///   - setting: a setting that changes along with it.
    ///   - change: makes the new value, as in `SettingStore.change`.
    /// - Throws: what opening the store key throws.
    package func restore(
        _ restoration: Restoration,
        setting: String,
        _ change: @escaping @Sendable (String?) -> String?
    ) async throws(KeystoreError) -> RestoreReport {
        try await sealing(restoration.items) { sealed, database in
            var transaction = RestoreTransaction(database: database, restoration: restoration)
            return try transaction.run(sealedKeys: sealed) { try SettingStore.change(setting, in: database, change) }
        }
    }
}
