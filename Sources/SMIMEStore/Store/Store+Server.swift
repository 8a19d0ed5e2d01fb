import LibCrypto

extension Store {
    /// Creates the store at `location`, in files or in a server's database, and a key file on this host if there is none.
    ///
    /// - Returns: false if there already is a store. An older one is migrated; its data stays.
    /// - Throws: `.unreachable`, `.cannotCreate`, `.permissions`; `.notPossible` if the database role cannot create tables.
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

    /// Checks that the server of `location` has `roles`, before anything is created there. Does nothing for a store in a
    /// file.
    ///
    /// - Throws: `.notPossible` if a role is missing; what connecting throws.
    package static func checkRoles(_ roles: [StoreRole], in location: StoreLocation) async throws(KeystoreError) {
        guard let server = location.server, !roles.isEmpty else { return }
        try await onBlockingThread { () throws(KeystoreError) in try StoreDatabase.check(roles, on: server) }
    }

    /// Grants roles their rights in the store on the server that `location` names, and revokes their other rights.
    ///
    /// - Throws: `.notPossible` for a store in a file, and if the database role of this process does not own the store;
    ///   `.unusableRole` for the owner's own role; what opening throws.
    package static func grant(_ roles: [StoreRole], in location: StoreLocation) async throws(KeystoreError) {
        guard let server = location.server else {
            throw .notPossible(path: location.path, why: "only a store on a server has roles")
        }
        try await onBlockingThread { () throws(KeystoreError) in
            try StoreDatabase.grant(roles, on: server)
        }
    }

    /// Grants the rights that this version of smime needs to all roles of the store that `location` names. Does nothing for
    /// a store in a file, which has no roles.
    ///
    /// - Throws: `.notPossible` if the database role of this process does not own the store; what opening throws.
    package static func renewRights(in location: StoreLocation) async throws(KeystoreError) {
        guard let server = location.server else { return }
        try await onBlockingThread { () throws(KeystoreError) in try StoreDatabase.renewRights(on: server) }
    }

    /// Opens the store on the server, on this thread, which may block.
    static func openNow(
        _ location: StoreLocation,
        on server: PostgreSQLAddress,
        mode: Mode,
        passphrase: PassphraseSource?
    ) throws(KeystoreError) -> Store {
        let folder = StoreFolder(location: location)
        for (path, isFolder) in folder.everything { try folder.inspect(path, isFolder: isFolder) }
        // These directories contain the locks and the key file of this host.
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
