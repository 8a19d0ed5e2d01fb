import Foundation

/// The steps from a store's version to the newest one.
package struct StoreMigration: Sendable, Equatable {
    /// The form that was found.
    package let found: Int
    /// The form this program writes.
    package let known: Int

    /// The forms that the store goes through, each in a transaction of its own.
    package var steps: [Int] { found < known ? Array(found + 1...known) : [] }
    /// Whether there is nothing to do.
    package var isEmpty: Bool { steps.isEmpty }

    /// The pending migration of the store at `location`; nil without a store. Changes nothing.
    ///
    /// - Throws: what opening a store throws, `.newer` and `.older` among it.
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

    /// Brings the store at `location` to the form of `schema`, one step after the other. Blocks.
    ///
    /// - Throws: `.notMigrated` if it cannot be written; what opening a store throws.
    package static func run(on location: StoreLocation, to schema: Schema = .current) throws(KeystoreError) {
        if let server = location.server { return try StoreDatabase.migrate(server, to: schema) }
        try StoreDatabase.checkCanMigrate(location)
        let lock = try StoreLock(location)
        try StoreDatabase.migrate(location, to: schema)
        _ = consume lock
    }
}

/// Runs `body` on a thread that may block, which the few cooperative ones must not.
func onBlockingThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(KeystoreError) -> Value
) async throws(KeystoreError) -> Value {
    let result: Result<Value, KeystoreError> = await withCheckedContinuation { continuation in
        // A queue of its own gets a thread even if many others are blocked.
        DispatchQueue(label: "smime store").async {
            continuation.resume(returning: Result { () throws(KeystoreError) in try body() })
        }
    }
    return try result.get()
}
