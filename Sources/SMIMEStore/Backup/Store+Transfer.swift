extension Store {
    /// Creates a store at `location` with all data of this store. The new store is a file, or a server's database that has
    /// no store yet.
    ///
    /// If several hosts share either store, settings that name programs and directories of one host are not copied. The
    /// copy is made in one transaction and verified by row counts and digests.
    ///
    /// - Returns: the number of copied rows of each table.
    /// - Throws: `.occupied` if there already is a store; what reading and creating a store throws.
    package func copy(to location: StoreLocation) async throws(KeystoreError) -> [String: Int] {
        let database = database
        let isShared = self.location.server != nil || location.server != nil
        return try await onBlockingThread { () throws(KeystoreError) in
            do {
                return try database.withEngine { engine in
                    // This program may be able to use a later schema version, but does not know all of its tables.
                    let form = try engine.schemaVersion().version
                    guard form == Schema.current.version else {
                        throw KeystoreError.newer(path: database.path, found: form, known: Schema.current.version)
                    }
                    return try Self.copy(engine, to: location, isShared: isShared)
                }
            } catch {
                throw KeystoreError(error, path: location.path)
            }
        }
    }

    /// - Parameter isShared: whether several hosts share the old or the new store.
    private static func copy(
        _ engine: any SQLEngine,
        to location: StoreLocation,
        isShared: Bool
    ) throws -> [String: Int] {
        let folder = StoreFolder(location: location)
        try folder.create()
        let lock = try StoreLock(location)
        let occupied = KeystoreError.occupied(path: location.path)
        var counts: [String: Int] = [:]
        try engine.readNow { source in
            let transfer = StoreTransfer(source: source, omitsHostSettings: isShared)
            if let server = location.server {
                let isNew = try StoreDatabase.create(on: server) { counts = try transfer.run(to: $0) }
                guard isNew else { throw occupied }
            } else {
                guard try !folder.exists() else { throw occupied }
                try StoreDatabase.create(location) { counts = try transfer.run(to: $0) }
            }
        }
        _ = consume lock
        return counts
    }
}
