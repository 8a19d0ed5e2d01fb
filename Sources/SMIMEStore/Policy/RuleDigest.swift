import ByteStreams
import LibCrypto

/// The number and the digest of all rules, which the store keeps in a row of its own.
///
/// A disk can lose a page, write it in another place, or change bytes. SQLite cannot detect that if the page still has a sound
/// form. Without this row, mail that must be encrypted would be sent in clear after the loss of a rule.
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
