import Foundation

extension Store {
    /// Brings a backup of accounts into the store, all of it or nothing.
    ///
    /// What is there already stays; doing it twice changes nothing more.
    ///
    /// - Parameters:
    ///   - setting: a setting that changes along with it.
    ///   - change: what is made of its value, as by `SettingStore.change`.
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
