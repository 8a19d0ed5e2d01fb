import Foundation
package import InternetMessage

/// The rules of the sending policy.
package struct PolicyStore: Sendable {
    private let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// All rules: the global rule, then those for recipients, then those for senders, each sorted by pattern.
    ///
    /// - Parameter isComplete: whether rules that are missing or damaged are an error.
    package func rules(isComplete: Bool = true) async throws(KeystoreError) -> [Policy.Rule] {
        try await database.read { database in
            if isComplete { try RuleDigest.check(in: database) }
            return try Self.all(in: database)
        }
    }

    private static func all(in database: SQLDatabase) throws -> [Policy.Rule] {
        try database.cached(.rules, cost: { 256 * $0.count }) {
            try database.rows("SELECT * FROM policy_rule ORDER BY side, pattern_key").map(rule)
        }
    }

    /// The maximum number of single rules that are read. For more keys, all rules are read at once.
    private static let maximumQueries = 200

    /// That rules are missing or damaged, as a sentence without a full stop; nil if none is.
    package func loss() async throws(KeystoreError) -> String? {
        try await database.read { try RuleDigest.error(in: $0)?.message }
    }

    /// The rules that can apply to mail from `senders` to `recipients`.
    package func rules(
        forSenders senders: [EmailAddress],
        recipients: [EmailAddress],
        kind: Policy.Kind? = nil
    ) async throws(KeystoreError) -> [Policy.Rule] {
        try await database.read { try Self.rules(forSenders: senders, recipients: recipients, kind: kind, in: $0) }
    }

    static func rules(
        forSenders senders: [EmailAddress],
        recipients: [EmailAddress],
        kind: Policy.Kind?,
        in database: SQLDatabase
    ) throws -> [Policy.Rule] {
        try RuleDigest.check(in: database)
        let statement = "SELECT * FROM policy_rule WHERE side = ? AND pattern_key = ?"
        func rules(_ side: String, _ keys: [String]) throws -> [Policy.Rule] {
            let keys = Set(keys)
            // An address with many routes has many keys.
            guard keys.count <= Self.maximumQueries else {
                return try all(in: database).filter { $0.scope.side == side && keys.contains($0.scope.key) }
            }
            return try keys.flatMap { key in
                try database.cached(.rulesOfScope, [side, key]) {
                    try database.rows(statement, [side, key]).map(Self.rule)
                }
            }
        }
        return try rules("global", [""]) + rules("kind", [kind?.rawValue].compactMap(\.self))
            + rules("sender", senders.flatMap(Policy.Pattern.keys))
            + rules("recipient", recipients.flatMap(Policy.Pattern.keys))
    }

    /// The rule for exactly the address `sender`; nil if there is none.
    package func rule(forSender sender: EmailAddress) async throws(KeystoreError) -> Policy.Rule? {
        guard let pattern = Policy.Pattern(sender.text) else { return nil }
        return try await database.read { try Self.rule(.sender(pattern), in: $0) }
    }

    /// Sets the values of `rule` in the rule of the same scope, which is created if there is none.
    ///
    /// - Returns: the resulting rule.
    package func set(_ rule: Policy.Rule) async throws(KeystoreError) -> Policy.Rule {
        try await database.write { database in
            let merged = try Self.rule(rule.scope, in: database)?.merging(rule) ?? rule
            try Self.save([merged], in: database)
            return merged
        }
    }

    /// Removes the values that are equal in `rule` and in the stored rule of the same scope. Removes all values if `rule`
    /// has none.
    ///
    /// - Returns: the rule before and after; `after` is nil if no value is left. Nil if there was no rule.
    package func unset(
        _ rule: Policy.Rule
    ) async throws(KeystoreError) -> (before: Policy.Rule, after: Policy.Rule?)? {
        try await database.write { database in
            guard let before = try Self.rule(rule.scope, in: database) else { return nil }
            let after = rule.isEmpty ? rule : before.removing(rule)
            try Self.save([after], in: database)
            return (before, after.isEmpty ? nil : after)
        }
    }

    /// Removes all rules, also those that cannot be read.
    package func removeAll() async throws(KeystoreError) {
        try await database.write { database in
            try RuleDigest.change(in: database) { try database.execute("DELETE FROM policy_rule") }
        }
    }

    static func rule(_ scope: Policy.Scope, in database: SQLDatabase) throws -> Policy.Rule? {
        try database.row("SELECT * FROM policy_rule WHERE side = ? AND pattern_key = ?", [scope.side, scope.key]).map(
            rule
        )
    }

    /// Stores `rules`, each in place of the rule of the same scope. A rule without values removes that rule.
    static func save(_ rules: [Policy.Rule], in database: SQLDatabase) throws {
        guard !rules.isEmpty else { return }
        try RuleDigest.change(in: database) { for rule in rules { try write(rule, in: database) } }
    }

    private static func write(_ rule: Policy.Rule, in database: SQLDatabase) throws {
        let (side, key) = (rule.scope.side, rule.scope.key)
        try database.execute("DELETE FROM policy_rule WHERE side = ? AND pattern_key = ?", [side, key])
        guard !rule.isEmpty else { return }
        try database.execute(
            """
            INSERT INTO policy_rule
                (side, pattern_key, pattern, sign, encrypt, override, missing, protected, decrypt_at_gateway)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                side, key, rule.scope.text, rule.sign?.rawValue, rule.encrypt?.rawValue,
                rule.override?.rawValue, rule.missing?.rawValue, rule.protected?.rawValue,
                rule.decryptAtGateway?.rawValue,
            ]
        )
    }

    private static func rule(_ row: SQLRow) throws -> Policy.Rule {
        guard let scope = Policy.Scope(side: try row.value("side"), pattern: try row.value("pattern")) else {
            throw unknown()
        }
        return Policy.Rule(
            scope,
            sign: try value(row, "sign"),
            encrypt: try value(row, "encrypt"),
            override: try value(row, "override"),
            missing: try value(row, "missing"),
            protected: try value(row, "protected"),
            decryptAtGateway: try value(row, "decrypt_at_gateway")
        )
    }

    /// The value in `column`. An unknown value is an error: ignoring it would weaken the rule.
    private static func value<Value: RawRepresentable<String>>(_ row: SQLRow, _ column: String) throws -> Value? {
        guard let text = try row.optional(column) as String? else { return nil }
        guard let value = Value(rawValue: text) else { throw unknown() }
        return value
    }

    private static func unknown() -> SQLError {
        SQLError(.corrupt, "a policy rule of an unknown kind")
    }
}
