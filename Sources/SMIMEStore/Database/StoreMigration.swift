import Foundation

/// The migrations from a store's schema version to the newest one.
package struct StoreMigration: Sendable, Equatable {
    /// The schema version of the store.
    package let found: Int
    /// The schema version that this program writes.
    package let known: Int

    /// The schema versions that the store passes through, each in its own transaction.
    package var steps: [Int] { found < known ? Array(found + 1...known) : [] }
    /// Whether the store needs no migration.
    package var isEmpty: Bool { steps.isEmpty }

    /// The pending migration of the store at `location`; nil if there is no store in files. Changes nothing.
    ///
    /// - Throws: what opening a store throws, including `.newer`, `.older`, and on a server `.noStore`.
    package static func pending(
        for location: StoreLocation,
        to schema: Schema = .current
    ) async throws(KeystoreError) -> StoreMigration? {
        try await onBlockingThread { () throws(KeystoreError) in
            if let server = location.server { return try StoreDatabase.pendingMigration(on: server, to: schema) }
            guard try StoreFolder(location: location).exists() else { return nil }
            return try StoreDatabase.pendingMigration(of: location, to: schema)
        }
    }

    /// Migrates the store at `location` to the schema version of `schema`, one step after the other. Blocks the thread.
    ///
    /// - Throws: `.notMigrated` if the store cannot be written; what opening a store throws.
    package static func run(on location: StoreLocation, to schema: Schema = .current) throws(KeystoreError) {
        if let server = location.server { return try StoreDatabase.migrate(server, to: schema) }
        try StoreDatabase.checkCanMigrate(location)
        let lock = try StoreLock(location)
        try StoreDatabase.migrate(location, to: schema)
        _ = consume lock
    }
}

/// Runs `body` on a thread that may block. The few threads of Swift's cooperative pool must not block.
func onBlockingThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(KeystoreError) -> Value
) async throws(KeystoreError) -> Value {
    let result: Result<Value, KeystoreError> = await withCheckedContinuation { continuation in
        // A separate queue gets a thread even if many other threads are blocked.
        DispatchQueue(label: "smime store").async {
            continuation.resume(returning: Result { () throws(KeystoreError) in try body() })
        }
    }
    return try result.get()
}
