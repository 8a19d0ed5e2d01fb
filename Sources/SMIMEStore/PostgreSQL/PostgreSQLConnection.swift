/// A session of a server inside of a transaction.
struct PostgreSQLConnection: SQLConnection {
    /// How many rows of a large result are fetched at a time.
    private static let step = 500

    /// Other hosts and roles write the database, too.
    let keepsVerdicts = false

    private let session: PostgreSQLSession

    init(_ session: PostgreSQLSession) { self.session = session }

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

    /// The server checks its pages itself, where its administrator wants it (`data_checksums`).
    func damagedPages() throws -> [String] { [] }

    /// The server lets no reference be broken.
    func brokenReferences() throws -> [String: Int] { [:] }

    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        _ body: (SQLRow) throws -> Bool
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
