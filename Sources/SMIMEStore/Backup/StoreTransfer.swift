import ByteStreams
import LibCrypto

/// Copies everything from one database to another one, whatever their engines, and verifies it.
///
/// Private keys stay sealed, and the protectors come along: the same key file or passphrase opens both.
struct StoreTransfer {
    /// The tables, each after those that it refers to, with what a row is identified by. The change counter is not copied but raised;
    /// answers of certificate sources and verdicts are not copied but made again: a client that could write them in one store must not
    /// decide in the other.
    private static let tables = [
        ("certificate", "id"), ("protector", "kind"), ("private_key", "certificate"), ("account", "id"),
        ("account_alias", "pattern_key"), ("identity", "account, certificate"),
        ("recipient", "address_key, certificate"), ("setting", "key"), ("policy_rule", "side, pattern_key"),
        ("delivery", "queue_id, digest, recipient"), ("intermediate", "certificate"), ("anchor", "certificate"),
        ("crl", "fingerprint"), ("ocsp_response", "certificate"), ("service_outage", "url"),
    ]

    /// What a table holds: how many rows, and the digest of all values.
    private struct Content: Equatable {
        let count: Int
        let digest: [UInt8]
    }

    let source: SQLDatabase
    /// Settings that are left behind.
    let omitted: Set<String>

    /// Copies to `target`, which holds empty tables, in its transaction.
    ///
    /// - Returns: how many rows of which tables there are.
    /// - Throws: `SQLError` of the kind `.corrupt` where the target holds something else afterwards.
    func run(to target: SQLDatabase) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for (table, key) in Self.tables {
            let written = try content(of: table, by: key, in: source) { row in
                let columns = row.stored.map(\.column)
                let places = columns.map { _ in "?" }.joined(separator: ", ")
                try target.execute(
                    "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))",
                    SQLArguments(storing: row.stored.map(\.value)),
                    isCounted: false
                )
            }
            guard try content(of: table, by: key, in: target, { _ in }) == written else {
                throw SQLError(.corrupt, "\(table): the copy is not what was copied")
            }
            counts[table] = written.count
        }
        // In a file the columns are believed that gateways could write on a server.
        if target.keepsVerdicts, !source.keepsVerdicts { try WrongRows(in: target).repair(in: target) }
        for table in ["certificate", "account"] { try target.continueKeys(of: table) }
        try ChangeCounter.raise(above: ChangeCounter.value(in: source), in: target)
        return counts
    }

    /// Passes the rows of `table` to `body`, and says what they are.
    private func content(
        of table: String,
        by key: String,
        in database: SQLDatabase,
        _ body: (SQLRow) throws -> Void
    ) throws -> Content {
        let digester = try Digester(.sha256)
        var count = 0
        try database.forEach("SELECT * FROM \(table) ORDER BY \(key)") { row in
            if table == "setting", omitted.contains(try row.value("key")) { return }
            // The engines give columns in the same order only as long as no migration adds one in another place.
            for (column, value) in row.stored.sorted(by: { $0.column < $1.column }) {
                try digester.update(Self.encoding(of: value, in: column).octets)
            }
            try body(row)
            count += 1
        }
        return Content(count: count, digest: try digester.finish())
    }

    /// The column, the kind, the length and the value, so that no two rows have one encoding.
    private static func encoding(of value: SQLValue, in column: String) -> [UInt8] {
        let (kind, bytes): (String, [UInt8]) =
            switch value {
            case .null: ("null", [])
            case .integer(let number): ("integer", Array("\(number)".utf8))
            case .text(let text): ("text", Array(text.utf8))
            case .blob(let bytes): ("blob", bytes)
            }
        return Array("\(column) \(kind) \(bytes.count) ".utf8) + bytes
    }
}
