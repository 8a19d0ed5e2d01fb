import Synchronization

/// The settings of the store, by name.
package struct SettingStore: Sendable {
    /// The name of the row with the number and the digest of the policy's rules. It is no setting: users neither see nor
    /// change it.
    static let ruleDigest = "policy.rule-digest"

    private let database: StoreDatabase
    private let isShared: Bool

    private let host: HostSettings

    /// - Parameters:
    ///   - isShared: whether several hosts share the database.
    ///   - host: the settings of this host.
    init(database: StoreDatabase, isShared: Bool, host: HostSettings) {
        (self.database, self.isShared, self.host) = (database, isShared, host)
    }

    /// All settings with a value, read in one query and combined with those of this host.
    package func all() async throws(KeystoreError) -> [String: String] {
        try host.added(to: try await stored().values, isShared: isShared)
    }

    /// The value that `make` computes from all settings. In a store from `Store.forOneMessage()`, the value is cached until the
    /// store changes, unless this host adds settings.
    ///
    /// - Parameter name: the cache key of the value. Always pass the same `make` with a name.
    package func decoded<Value: Sendable>(
        _ name: String,
        _ make: ([String: String]) throws -> Value
    ) async throws -> Value {
        let stored = try await stored()
        guard host.addsNothing(isShared: isShared) else {
            return try make(host.added(to: stored.values, isShared: isShared))
        }
        return try stored.decoded(name, make)
    }

    /// The file with the settings of this host, and the settings in it; nil if all settings are in the store, or if there is no
    /// such file.
    package func ofHost() throws(KeystoreError) -> (file: String, values: [String: String])? {
        guard isShared, let file = host.file else { return nil }
        return (file, try host.values())
    }

    private func stored() async throws(KeystoreError) -> StoredSettings {
        try await database.read { database in
            try database.cached(.settings) {
                let statement = "SELECT key, value FROM setting WHERE key <> ?"
                let rows = try database.rows(statement, [Self.ruleDigest])
                return StoredSettings(
                    try rows.reduce(into: [:]) { $0[try $1.value("key")] = try $1.value("value") }
                )
            }
        }
    }

    /// The value of the setting `key`; nil if it is not set.
    package func value(of key: String) async throws(KeystoreError) -> String? { try await all()[key] }

    /// Sets `key` to `value`, or removes the setting if `value` is nil.
    package func set(_ key: String, to value: String?) async throws(KeystoreError) {
        try await change(key) { _ in value }
    }

    /// Changes the setting `key` to the result of `body` in one transaction. For `body`, nil means that the setting has
    /// no value.
    ///
    /// - Throws: `.notPossible` if several hosts share the store and the setting belongs to one host (`HostSettings`).
    package func change(_ key: String, _ body: @escaping @Sendable (String?) -> String?) async throws(KeystoreError) {
        let (isShared, path) = (isShared, database.path)
        let file = host.file ?? HostSettings.systemFile
        guard !isShared || !HostSettings.names.contains(key) else {
            throw Self.refusal(of: key, path: path, file: file)
        }
        try await database.write { database in
            try Self.change(key, in: database) { old in
                let value = body(old)
                guard !isShared || !HostSettings.isHostSetting(key, value: value) else {
                    throw Self.refusal(of: key, path: path, file: file)
                }
                return value
            }
        }
    }

    private static func refusal(of key: String, path: String, file: String) -> KeystoreError {
        let why =
            "\(key) names a program, file or socket of one host, but several hosts share this store: set it in \(file) on each host"
        return .notPossible(path: path, why: why)
    }

    /// Changes the setting `key` within an open transaction.
    static func change(_ key: String, in database: SQLDatabase, _ body: (String?) throws -> String?) throws {
        let old = try database.value("SELECT value FROM setting WHERE key = ?", [key], as: String.self)
        let value = try body(old)
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

/// The settings in the store, and the values that were computed from them.
private final class StoredSettings: Sendable {
    let values: [String: String]
    private let made = Mutex<[String: any Sendable]>([:])

    init(_ values: [String: String]) { self.values = values }

    /// The value that `make` computed before from these settings, or computes now.
    func decoded<Value: Sendable>(_ name: String, _ make: ([String: String]) throws -> Value) rethrows -> Value {
        if let known = made.withLock({ $0[name] }), let value = known as? Value { return value }
        let value = try make(values)
        made.withLock { $0[name] = value }
        return value
    }
}
