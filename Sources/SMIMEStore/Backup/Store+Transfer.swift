extension Store {
    /// Makes a store at `location`, a file or a server's database without one, that holds everything that this one holds.
    ///
    /// If the new store is shared by several hosts, settings that name programs and directories of one host are not copied. The change is
    /// made in one transaction and verified by counts and digests.
    ///
    /// - Returns: how many rows of which tables there are.
    /// - Throws: `.occupied` where there is a store already; what reading and making a store throws.
    package func copy(to location: StoreLocation) async throws(KeystoreError) -> [String: Int] {
        let database = database
        return try await onBlockingThread { () throws(KeystoreError) in
            do {
                return try database.withEngine { engine in
                    // A later form may be usable, but has tables that this program does not know.
                    let form = try engine.schemaVersion().version
                    guard form == Schema.current.version else {
                        throw KeystoreError.newer(path: database.path, found: form, known: Schema.current.version)
                    }
                    return try Self.copy(engine, to: location)
                }
            } catch {
                throw KeystoreError(error, path: location.path)
            }
        }
    }

    private static func copy(_ engine: any SQLEngine, to location: StoreLocation) throws -> [String: Int] {
        let folder = StoreFolder(location: location)
        try folder.create()
        let lock = try StoreLock(location)
        let omitted = location.server == nil ? [] : HostSettings.names
        let occupied = KeystoreError.occupied(path: location.path)
        var counts: [String: Int] = [:]
        try engine.readNow { source in
            let transfer = StoreTransfer(source: source, omitted: omitted)
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
