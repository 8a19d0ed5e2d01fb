import Foundation

/// Brings the records of one table from older forms to the newest, some at a time.
///
/// Every batch is one transaction and the records left say so themselves, so that a migration may be killed at any moment
/// and goes on where it was, in whatever process. Until then old records stay readable.
struct RecordMigration: Sendable {
    /// How many records one transaction changes.
    static let batchCount = 250
    /// How long opening a store may spend on records; the next one goes on.
    static let openingTime = Duration.seconds(1)

    let table: String
    /// The form it leads to. A record without a form is of form 0.
    let form: Int
    /// Changes the records of older forms it is given, by row.
    private let change: @Sendable (_ records: [SQLRow], SQLDatabase) throws -> Void

    /// All there are.
    static let all = [certificates]

    /// Schema version 4 adds the columns that lists show and query. Version 3 made `public_key`, which connects
    /// certificates for one key, independent of the key's encoding.
    private static let certificates = RecordMigration(table: "certificate", form: CertificateRecord.form) {
        let columns = CertificateDescription.columns.map { "\($0) = ?" }.joined(separator: ", ")
        let update = "UPDATE certificate SET \(columns), form = ? WHERE id = ?"
        let unreadable = "UPDATE certificate SET public_key = NULL, form = ? WHERE id = ?"
        for record in $0 {
            let id: Int64 = try record.value("id")
            // A record that this program cannot read is reported when it is used, and must not block the others.
            if let description = try? CertificateDescription(of: record.certificate()) {
                try $1.execute(update, description.arguments + [CertificateRecord.form, id])
            } else {
                try $1.execute(unreadable, [CertificateRecord.form, id])
            }
        }
    }

    /// How many records are of an older form.
    func remaining(in database: SQLDatabase) throws -> Int {
        try database.value("SELECT count(*) FROM \(table) WHERE form < \(form)", as: Int.self) ?? 0
    }

    /// Changes the next records of older forms.
    ///
    /// - Returns: how many.
    func runBatch(in database: SQLDatabase) throws -> Int {
        let statement = "SELECT * FROM \(table) WHERE form < \(form) ORDER BY id LIMIT \(Self.batchCount)"
        let records = try database.rows(statement)
        if !records.isEmpty { try change(records, database) }
        return records.count
    }

    /// Runs batches until no old record is left, or `timeout` is over. Blocks.
    ///
    /// - Returns: how many records were changed, by table.
    @discardableResult
    static func run(on engine: any SQLEngine, within timeout: Duration? = nil) throws -> [String: Int] {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        var counts: [String: Int] = [:]
        for migration in all {
            // A look does not wait for other writers, and as a rule there is nothing to do.
            guard try engine.readNow({ try migration.hasWork(in: $0) }) else { continue }
            var count = 0
            repeat {
                count = try engine.writeNow { try migration.runBatch(in: $0) }
                counts[migration.table, default: 0] += count
                if let deadline, ContinuousClock.now >= deadline { return counts }
            } while count > 0
        }
        return counts
    }

    private func hasWork(in database: SQLDatabase) throws -> Bool {
        try database.value("SELECT EXISTS (SELECT 1 FROM \(table) WHERE form < \(form))", as: Bool.self) ?? false
    }
}
