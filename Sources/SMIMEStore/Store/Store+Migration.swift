extension Store {
    /// Brings every record to its newest form, in batches that may be interrupted.
    ///
    /// - Returns: how many records were changed, by table.
    package func migrateRecords() async throws(KeystoreError) -> [String: Int] {
        let database = database
        return try await onBlockingThread { () throws(KeystoreError) in
            do { return try database.withEngine { try RecordMigration.run(on: $0) } } catch {
                throw KeystoreError(error, path: database.path)
            }
        }
    }
}
