/// A session with a server, within one transaction.
struct PostgreSQLConnection: SQLConnection {
    /// The number of rows to fetch at a time from a large result.
    private static let step = 500

    /// False because other hosts and roles also write the database.
    let storesVerdicts = false

    private let session: PostgreSQLSession

    init(_ session: PostgreSQLSession) { self.session = session }

    func isOwner() throws -> Bool {
        let owner = "SELECT relowner FROM pg_class WHERE oid = 'smime.certificate'::regclass"
        let rows = try session.run("SELECT pg_has_role(current_user, (\(owner)), 'USAGE')", []).rows()
        return try rows.first?.first(as: Bool.self) ?? false
    }

    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try session.run(sql, arguments).changedCount
    }

    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        try session.run(sql + " RETURNING id", arguments).insertedID()
    }

    func continueKeys(of table: String) throws {
        let sequence = "pg_get_serial_sequence('smime.\(table)', 'id')"
        _ = try session.run("SELECT setval(\(sequence), max(id)) FROM \(table)", [], keepsStatement: false)
    }

    /// Always empty: the server checks its pages itself if its administrator has enabled this (`data_checksums`).
    func damagedPages() throws -> [String] { [] }

    /// Always empty: the server enforces references.
    func brokenReferences() throws -> [String: Int] { [:] }

    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        body: (SQLRow) throws -> Bool
    ) throws {
        guard !keepsStatement else {
            _ = try session.run(sql, arguments).forEach(body)
            return
        }
        let name = session.newCursorName()
        _ = try session.run("DECLARE \(name) NO SCROLL BINARY CURSOR FOR \(sql)", arguments, keepsStatement: false)
        while true {
            let rows = try session.run("FETCH \(Self.step) FROM \(name)", [], keepsStatement: false)
            guard !rows.isEmpty, try rows.forEach(body) else { break }
        }
        _ = try session.run("CLOSE \(name)", [], keepsStatement: false)
    }
}
