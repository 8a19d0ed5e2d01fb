import ByteStreams
import Foundation
package import InternetMessage
import LibCrypto

/// The rules of the sending policy.
package struct PolicyStore: Sendable {
    private let database: StoreDatabase

    init(database: StoreDatabase) { self.database = database }

    /// All rules: the global rule, then those for kinds of mail, for recipients, and for senders, each group sorted by
    /// pattern.
    ///
    /// - Parameter isComplete: whether it is an error if the rules are not those that were set. A rule that cannot be read
    ///   is always an error.
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

    /// A sentence, without a full stop, that says which rules are missing or damaged; nil if the rules are those that were set.
    package func loss() async throws(KeystoreError) -> String? {
        try await database.read { try RuleDigest.error(in: $0)?.message }
    }

    /// Why the rules cannot be used: they are not those that were set, or one cannot be read; nil if they can.
    static func damage(in database: SQLDatabase) throws -> SQLError? {
        if let error = try RuleDigest.error(in: database) { return error }
        do { _ = try all(in: database) } catch let error as SQLError where error.kind == .corrupt { return error }
        return nil
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
            // Many addresses, or domains with many labels, have many keys.
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
        SQLError(.corrupt, "a policy rule with an unknown value")
    }
}

/// The number and the digest of all rules, which the store keeps in a row of its own.
///
/// A disk can lose a page, write it in another place, or change bytes. SQLite cannot detect this if the page is still
/// well-formed. Without this row, mail that must be encrypted would be sent in clear after the loss of a rule.
struct RuleDigest: Equatable {
    private let count: Int
    private let digest: String

    /// - Throws: `SQLError` of the kind `.corrupt` if the rules are not those that were set.
    static func check(in database: SQLDatabase) throws {
        if let error = try database.cached(.ruleDigest, make: { try error(in: database) }) { throw error }
    }

    /// The error that `check` throws; nil if the rules are those that were set.
    static func error(in database: SQLDatabase) throws -> SQLError? {
        let (text, found) = (try text(in: database), try RuleDigest(of: database))
        guard text != nil || found.count > 0 else { return nil }
        guard let expected = text.flatMap(RuleDigest.init) else {
            return SQLError(.corrupt, "the record of the rules of the sending policy is missing or cannot be read")
        }
        guard found != expected else { return nil }
        guard found.count == expected.count else {
            return SQLError(.corrupt, "the sending policy has \(found.count) rules, and \(expected.count) were set")
        }
        return SQLError(.corrupt, "a rule of the sending policy is not the one that was set")
    }

    /// Changes rules with `body`, and records the result. If the rules were not those that were set, the row stays as it is
    /// until all of them are set again, or until none is left.
    static func change(in database: SQLDatabase, by body: () throws -> Void) throws {
        let isSound = try error(in: database) == nil
        try body()
        let after = try RuleDigest(of: database)
        let text = try text(in: database)
        guard isSound || after.count == 0, after.text != text, after.count > 0 || text != nil else { return }
        try SettingStore.change(SettingStore.ruleDigest, in: database) { _ in after.text }
    }

    private static func text(in database: SQLDatabase) throws -> String? {
        try database.value("SELECT value FROM setting WHERE key = ?", [SettingStore.ruleDigest], as: String.self)
    }

    private init(of database: SQLDatabase) throws {
        let rows = try database.rows("SELECT * FROM policy_rule").map(Self.encoding)
        count = rows.count
        // Databases sort in different ways, so the rows are sorted here.
        let sorted = rows.sorted { $0.lexicographicallyPrecedes($1) }
        digest = try DigestAlgorithm.sha256.digest(Array(sorted.joined())).hexadecimal
    }

    private init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let count = Int(words[0]) else { return nil }
        (self.count, digest) = (count, String(words[1]))
    }

    private var text: String { "\(count) \(digest)" }

    /// The values of a row, each with its column, type and length. Columns without a value are left out: a new column must
    /// permit NULL, so that it does not change the digest.
    private static func encoding(of row: SQLRow) -> [UInt8] {
        row.stored.sorted { $0.column < $1.column }.flatMap { column, value in
            let (type, bytes): (String, [UInt8])
            switch value {
            case .null: return [UInt8]()
            case .integer(let number): (type, bytes) = ("integer", Array("\(number)".utf8))
            case .text(let text): (type, bytes) = ("text", Array(text.utf8))
            case .blob(let blob): (type, bytes) = ("blob", blob)
            }
            return Array("\(column) \(type) \(bytes.count) ".utf8) + bytes
        } + [.lineFeed]
    }
}
