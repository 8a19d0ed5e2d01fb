/// Settings of the store, by name.
package struct SettingStore: Sendable {
    /// Settings that name programs and directories of one host. In a database that several hosts share they are neither set nor used:
    /// a client that can write there must not choose what runs on a gateway.
    package static let namesOfHost: Set<String> = [
        "filter.sendmail", "lookup.command", "lookup.directory", "lookup.ldap.ca-file", "lookup.ldap.password-file",
        "lookup.smimea.trust-anchor", "revocation.directory",
    ]

    private let database: StoreDatabase
    private let isShared: Bool

    /// - Parameter isShared: whether several hosts share the database.
    init(database: StoreDatabase, isShared: Bool) {
        self.database = database
        self.isShared = isShared
    }

    /// All settings that were made, as of one moment.
    package func all() async throws(KeystoreError) -> [String: String] {
        let made = try await stored()
        return isShared ? made.filter { !Self.namesOfHost.contains($0.key) } : made
    }

    private func stored() async throws(KeystoreError) -> [String: String] {
        try await database.read { database in
            try database.remembered(.settings) {
                let statement = "SELECT key, value FROM setting"
                return try database.rows(statement).reduce(into: [:]) {
                    $0[try $1.value("key")] = try $1.value("value")
                }
            }
        }
    }

    /// The value of the setting `key`; nil if it was not made.
    package func value(of key: String) async throws(KeystoreError) -> String? { try await all()[key] }

    /// Sets `key` to `value`, or removes the setting if `value` is nil.
    package func set(_ key: String, to value: String?) async throws(KeystoreError) {
        try await change(key) { _ in value }
    }

    /// Changes the setting `key` by `body` in one transaction; nil stands for a setting that does not exist.
    package func change(_ key: String, _ body: @escaping @Sendable (String?) -> String?) async throws(KeystoreError) {
        guard !isShared || !Self.namesOfHost.contains(key) else {
            let why = "\(key) names a program or directory of one host, and hosts share this store"
            throw .notOnServer(path: database.path, why: why)
        }
        try await database.write { try Self.change(key, in: $0, body) }
    }

    /// Changes the setting `key` in a transaction that is under way.
    static func change(_ key: String, in database: SQLDatabase, _ body: (String?) -> String?) throws {
        let old = try database.value("SELECT value FROM setting WHERE key = ?", [key], as: String.self)
        let value = body(old)
        guard value != old else { return }
        guard let value else {
            try database.execute("DELETE FROM setting WHERE key = ?", [key])
            return
        }
        let insert =
            "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        try database.execute(insert, [key, value])
    }
}
