import ByteStreams
import Foundation
import LibCrypto

/// Copies the data from one database to another one, also between engines, and verifies the copy.
///
/// Private keys stay sealed, and the protectors are copied: the same key file or passphrase opens both stores.
struct StoreTransfer {
    /// The tables, each after the tables that it refers to, with the column that identifies a row. The change counter is
    /// not copied but raised. Answers of certificate sources and verdicts are not copied but created again: a client that
    /// could write them in one store must not influence the other.
    private static let tables = [
        ("certificate", "id"), ("protector", "kind"), ("private_key", "certificate"), ("account", "id"),
        ("account_alias", "pattern_key"), ("identity", "account, certificate"),
        ("recipient", "address_key, certificate"), ("setting", "key"), ("policy_rule", "side, pattern_key"),
        ("delivery", "queue_id, digest, recipient"), ("intermediate", "certificate"), ("anchor", "certificate"),
        ("crl", "fingerprint"), ("ocsp_response", "certificate"), ("service_outage", "url"),
    ]

    /// A summary of a table: the number of rows, and the digest of all values.
    private struct Content: Equatable {
        let count: Int
        let digest: [UInt8]
    }

    let source: SQLDatabase
    /// Whether settings that belong to one host are left out. A shared database ignores such settings, so a client that can
    /// write them there must not determine them in the copy.
    let omitsHostSettings: Bool

    /// Copies to the empty tables of `target`. The caller opens the transaction in `target`.
    ///
    /// - Returns: the number of copied rows of each table.
    /// - Throws: `SQLError` of the kind `.corrupt` if the target's rows then differ from those that were copied.
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
                throw SQLError(.corrupt, "\(table): the copy differs from the store")
            }
            counts[table] = written.count
        }
        // On a server, gateways could write the columns that describe certificates. In a file smime relies on these
        // columns, so wrong values are corrected here.
        if target.storesVerdicts, !source.storesVerdicts { try WrongRows(in: target).repair(in: target) }
        for table in ["certificate", "account"] { try target.continueKeys(of: table) }
        try ChangeCounter.raise(above: ChangeCounter.value(in: source), in: target)
        return counts
    }

    /// Passes the rows of `table` to `body`. Returns the number and the digest of the rows.
    private func content(
        of table: String,
        by key: String,
        in database: SQLDatabase,
        _ body: (SQLRow) throws -> Void
    ) throws -> Content {
        let digester = try Digester(.sha256)
        var count = 0
        try database.forEach("SELECT * FROM \(table) ORDER BY \(key)") { row in
            if table == "setting", omitsHostSettings, try Self.belongsToHost(row) { return }
            // The order of columns is the same in both engines only while no migration inserts a column.
            for (column, value) in row.stored.sorted(by: { $0.column < $1.column }) {
                try digester.update(Self.encoding(of: value, in: column).octets)
            }
            try body(row)
            count += 1
        }
        return Content(count: count, digest: try digester.finish())
    }

    /// Whether `row` of the table `setting` belongs to one host.
    private static func belongsToHost(_ row: SQLRow) throws -> Bool {
        try HostSettings.isHostSetting(row.value("key"), value: row.value("value") as String)
    }

    /// Encodes the column, the kind, the length and the value, so that different values have different encodings.
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

extension Store {
    /// Creates a store at `location` with all data of this store. The new store is a file, or a server's database that has
    /// no store yet.
    ///
    /// If either store is on a server, settings that belong to one host (`HostSettings`) are not copied. The copy is made
    /// in one transaction and verified by row counts and digests.
    ///
    /// - Returns: the number of copied rows of each table.
    /// - Throws: `.occupied` if there already is a store; `.newer` if this store has a later schema version than this
    ///   program creates; what reading and creating a store throws.
    package func copy(to location: StoreLocation) async throws(KeystoreError) -> [String: Int] {
        let database = database
        let isShared = self.location.server != nil || location.server != nil
        return try await onBlockingThread { () throws(KeystoreError) in
            do {
                return try database.withEngine { engine in
                    // This program may be able to use a later schema version, but does not know all of its tables.
                    let version = try engine.schemaVersion().version
                    guard version == Schema.current.version else {
                        throw KeystoreError.newer(path: database.path, found: version, known: Schema.current.version)
                    }
                    return try Self.copy(engine, to: location, isShared: isShared)
                }
            } catch {
                throw KeystoreError(error, path: location.path)
            }
        }
    }

    /// - Parameter isShared: whether the old or the new store is on a server.
    private static func copy(
        _ engine: any SQLEngine,
        to location: StoreLocation,
        isShared: Bool
    ) throws -> [String: Int] {
        let folder = StoreFolder(location: location)
        try folder.create()
        let lock = try StoreLock(location)
        let occupied = KeystoreError.occupied(path: location.path)
        var counts: [String: Int] = [:]
        try engine.readNow { source in
            let transfer = StoreTransfer(source: source, omitsHostSettings: isShared)
            if let server = location.server {
                let isNew = try StoreDatabase.create(on: server) { counts = try transfer.run(to: $0) }
                guard isNew else { throw occupied }
            } else {
                guard try !folder.exists() else { throw occupied }
                try StoreDatabase.create(location) { counts = try transfer.run(to: $0) }
            }
        }
        _ = consume lock
        return counts
    }
}
