/// The number of rules that were set, which the store keeps in a row of its own.
///
/// A disk can lose a page or write it in another place. SQLite cannot detect that if the page then has a sound, older
/// content. Without this number, mail that must be encrypted would be sent in clear after the loss of a rule.
enum RuleCount {
    /// - Throws: `SQLError` of the kind `.corrupt` if the number of rules is not the number that was set.
    static func check(in database: SQLDatabase) throws {
        if let error = try database.cached(.ruleCount, make: { try error(in: database) }) { throw error }
    }

    /// The error that `check` throws; nil if the number is right, or if no rule was set since the number exists.
    static func error(in database: SQLDatabase) throws -> SQLError? {
        guard let text = try text(in: database) else { return nil }
        let found = try found(in: database)
        guard let expected = number(text) else {
            return SQLError(.corrupt, "the number of rules of the sending policy cannot be read")
        }
        guard found != expected else { return nil }
        return SQLError(.corrupt, "the sending policy has \(found) rules, and \(expected) were set")
    }

    /// Records the number of rules after `body`, which returns by how many it changes the number. After a loss the old
    /// number stays until as many rules are set again.
    static func change(in database: SQLDatabase, by body: () throws -> Int) throws {
        let (before, expected) = (try found(in: database), try text(in: database).flatMap(number))
        let after = before + (try body())
        let isRight = expected == nil || expected == before
        try SettingStore.change(SettingStore.ruleCount, in: database) { _ in
            String(isRight ? after : max(after, expected ?? 0))
        }
    }

    private static func text(in database: SQLDatabase) throws -> String? {
        try database.value("SELECT value FROM setting WHERE key = ?", [SettingStore.ruleCount], as: String.self)
    }

    private static func number(_ text: String) -> Int? {
        Int(text).flatMap { (0...Int(Int32.max)).contains($0) ? $0 : nil }
    }

    private static func found(in database: SQLDatabase) throws -> Int {
        try database.value("SELECT count(*) FROM policy_rule", as: Int.self) ?? 0
    }
}
