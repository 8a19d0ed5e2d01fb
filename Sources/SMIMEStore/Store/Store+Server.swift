import LibCrypto

extension Store {
    /// Makes the store that `location` names on its server, and a key file on this host if there is none.
    ///
    /// - Returns: false if the database has a store already, which stays as it is.
    /// - Throws: `.unreachable`, `.cannotCreate`, `.permissions`; `.cannotOpen` for a role that may not make tables.
    package static func create(_ location: StoreLocation) async throws(KeystoreError) -> Bool {
        try await onBlockingThread { () throws(KeystoreError) in
            guard let server = location.server else {
                let isThere = try StoreFolder(location: location).exists()
                try openNow(location, mode: .readWrite).database.closeUnused()
                return !isThere
            }
            let folder = StoreFolder(location: location)
            try folder.create()
            let lock = try StoreLock(location)
            let isNew = try StoreDatabase.create(on: server) { try StoreKey.create(in: folder).save(in: $0) }
            _ = consume lock
            return isNew
        }
    }

    /// Checks that the server of `location` has `roles`, before anything is made there. Nothing happens for a store in a file.
    ///
    /// - Throws: `.notOnServer` for a role that is missing; what connecting throws.
    package static func checkRoles(_ roles: [StoreRole], in location: StoreLocation) async throws(KeystoreError) {
        guard let server = location.server, !roles.isEmpty else { return }
        try await onBlockingThread { () throws(KeystoreError) in try StoreDatabase.check(roles, on: server) }
    }

    /// Gives roles their rights in the store that `location` names on its server, and takes other ones.
    ///
    /// - Throws: `.notOnServer` for a store in a file, and if the caller is not its owner; `.unusableAddress` for the owner's own
    ///   role; what opening throws.
    package static func grant(_ roles: [StoreRole], in location: StoreLocation) async throws(KeystoreError) {
        guard let server = location.server else {
            throw .notOnServer(path: location.path, why: "only a store on a server has roles")
        }
        try await onBlockingThread { () throws(KeystoreError) in
            try StoreDatabase.grant(roles, on: server)
        }
    }

    /// Grants the roles of the store that `location` names the rights that this version of smime needs. A store in a file has no roles.
    ///
    /// - Throws: `.notOnServer` if the caller is not its owner; what opening throws.
    package static func renewRights(in location: StoreLocation) async throws(KeystoreError) {
        guard let server = location.server else { return }
        try await onBlockingThread { () throws(KeystoreError) in try StoreDatabase.renewRights(on: server) }
    }

    /// Opens the store on `server`, on this thread, which may block.
    static func openNow(
        _ location: StoreLocation,
        on server: PostgreSQLAddress,
        mode: Mode,
        passphrase: PassphraseSource?
    ) throws(KeystoreError) -> Store {
        let folder = StoreFolder(location: location)
        for (path, isFolder) in folder.everything { try folder.inspect(path, isFolder: isFolder) }
        // The locks of this host and its key file lie there.
        if mode != .readOnly { try folder.create() }
        var database = try StoreDatabase.open(server, readOnly: mode == .readOnly)
        if database == nil {
            try StoreMigration.run(on: location)
            database = try StoreDatabase.open(server, readOnly: mode == .readOnly)
        }
        guard let database else { throw .corrupt(path: server.name, detail: "cannot be migrated") }
        let store = Store(location, database, unlocker: StoreUnlocker(location, source: passphrase), exists: true)
        if mode != .readOnly { try store.finishInterruptedChange() }
        return store
    }
}
