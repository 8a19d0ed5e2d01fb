import Foundation

extension Store {
    /// Restores a backup of accounts into the store. If an error occurs, nothing is changed.
    ///
    /// Existing data stays. A second restore changes nothing.
    ///
    /// - Parameters:
    ///   - setting: the name of a setting that changes in the same transaction.
    ///   - change: returns the new value of the setting, as in `SettingStore.change`.
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
