extension StoreDatabase {
    /// Opens the database on `server`.
    ///
    /// - Returns: nil if the schema version is older and the store must be migrated first.
    /// - Throws: `.noStore`, `.newer`, `.older`, `.corrupt`, `.unreachable`; `.notWritable` if the store is opened for
    ///   writing and the server is a standby.
    static func open(_ server: PostgreSQLAddress, readOnly: Bool) throws(KeystoreError) -> StoreDatabase? {
        let engine = PostgreSQLEngine(server)
        guard try schemaVersion(of: engine, on: server) >= Schema.current.version else {
            engine.pool.close()
            return nil
        }
        guard readOnly || !engine.isReadOnlyServer else {
            engine.pool.close()
            throw .notWritable(path: server.name)
        }
        return StoreDatabase(engine, path: server.name, isReadOnly: readOnly)
    }

    /// The steps that `migrate` would take. Nothing is changed.
    static func pendingMigration(
        on server: PostgreSQLAddress,
        to schema: Schema
    ) throws(KeystoreError) -> StoreMigration {
        let engine = PostgreSQLEngine(server)
        defer { engine.pool.close() }
        return StoreMigration(found: try schemaVersion(of: engine, on: server, knowing: schema), known: schema.version)
    }

    /// Migrates the store on `server` to the schema version of `schema`. Only one process at a time can do this.
    ///
    /// - Throws: `.notMigrated` if the role lacks the rights.
    static func migrate(_ server: PostgreSQLAddress, to schema: Schema) throws(KeystoreError) {
        let engine = PostgreSQLEngine(server)
        defer { engine.pool.close() }
        let found = try schemaVersion(of: engine, on: server, knowing: schema)
        do {
            try engine.migrate(by: schema.numbered)
            try engine.writeNow(StoreRole.renewRights)
        } catch let error as SQLError where error.kind == .forbidden {
            throw KeystoreError.notMigrated(path: server.name, found: found, known: schema.version)
        } catch { throw KeystoreError(error, path: server.name) }
    }

    /// Creates the tables of a store on `server`, if there are none.
    ///
    /// - Parameter fill: fills the tables in the same transaction.
    /// - Returns: whether the tables were created.
    /// - Throws: `.newer`, `.older`; `.corrupt` if the existing tables are not those of a store; `.notPossible` if the
    ///   role lacks the rights; `.unreachable`.
    static func create(
        on server: PostgreSQLAddress,
        filling fill: (SQLDatabase) throws -> Void
    ) throws(KeystoreError) -> Bool {
        let engine = PostgreSQLEngine(server)
        defer { engine.pool.close() }
        do {
            if try engine.schemaVersion().version > 0 { try schemaVersion(of: engine, server.name) }
            return try engine.migrate(by: Schema.current.numbered, filling: fill)
        } catch {
            throw KeystoreError(error, path: server.name)
        }
    }

    /// Checks that `server` has `roles`.
    ///
    /// - Throws: `.notPossible` if a role is missing.
    static func check(_ roles: [StoreRole], on server: PostgreSQLAddress) throws(KeystoreError) {
        let engine = PostgreSQLEngine(server)
        defer { engine.pool.close() }
        let known: Set<String>
        do {
            known = try engine.readNow { Set(try $0.values("SELECT rolname::text FROM pg_roles", as: String.self)) }
        } catch { throw KeystoreError(error, path: server.name) }
        guard let missing = roles.first(where: { !known.contains($0.name) }) else { return }
        let why =
            "the server has no role \(missing.name); its administrator can create it: CREATE ROLE \"\(missing.name)\" LOGIN"
        throw .notPossible(path: server.name, why: why)
    }

    /// Grants `roles` their rights, and revokes their other rights, in one transaction.
    ///
    /// - Throws: `.unusableRole` if a role owns the tables, because it would lose its own rights.
    static func grant(_ roles: [StoreRole], on server: PostgreSQLAddress) throws(KeystoreError) {
        let engine = PostgreSQLEngine(server)
        defer { engine.pool.close() }
        do {
            try engine.writeNow { for role in roles { try role.grant(in: $0) } }
        } catch { throw KeystoreError(error, path: server.name) }
    }

    /// Grants the current rights to the roles that already have rights.
    static func renewRights(on server: PostgreSQLAddress) throws(KeystoreError) {
        let engine = PostgreSQLEngine(server)
        defer { engine.pool.close() }
        do { try engine.writeNow(StoreRole.renewRights) } catch { throw KeystoreError(error, path: server.name) }
    }

    private static func schemaVersion(
        of engine: PostgreSQLEngine,
        on server: PostgreSQLAddress,
        knowing schema: Schema = .current
    ) throws(KeystoreError) -> Int {
        let version: SchemaVersion
        do { version = try engine.schemaVersion() } catch { throw KeystoreError(error, path: server.name) }
        guard version.version > 0 else { throw .noStore(path: server.name) }
        return try schemaVersion(of: engine, server.name, knowing: schema)
    }
}
