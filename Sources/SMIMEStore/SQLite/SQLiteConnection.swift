import GRDB
import GRDBSQLite

/// A GRDB connection within a transaction.
struct SQLiteConnection: SQLConnection {
    /// True because only the owner can write the file.
    let storesVerdicts = true

    /// Nil because only this host writes the file.
    let serverTime: String? = nil

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Always true: the permissions of the file decide who writes.
    func isOwner() -> Bool { true }

    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try SQLError.translating {
            let connection = database.sqliteConnection
            let before = sqlite3_total_changes(connection)
            let statement = try database.cachedStatement(sql: sql)
            try SQLiteBindings.bind(arguments, to: statement) { try statement.execute() }
            // After CREATE TABLE, sqlite3_changes still returns the count of the previous statement.
            return sqlite3_total_changes(connection) == before ? 0 : Int(sqlite3_changes(connection))
        }
    }

    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        _ = try execute(sql, arguments)
        return database.lastInsertedRowID
    }

    /// Does nothing: SQLite determines the greatest ID at each insertion.
    func continueKeys(of table: String) throws {}

    func damagedPages() throws -> [String] {
        var lines: [String] = []
        try query("PRAGMA integrity_check", [], keepsStatement: true) { row in
            if let line = try row.first(as: String.self), line != "ok" { lines.append(line) }
            return true
        }
        return lines
    }

    func brokenReferences() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        try query("PRAGMA foreign_key_check", [], keepsStatement: true) { row in
            counts[try row.value("table"), default: 0] += 1
            return true
        }
        return counts
    }

    func schemaObjects() throws -> [SchemaObject]? {
        var objects: [SchemaObject] = []
        try query("SELECT type, name, tbl_name, sql FROM sqlite_master", [], keepsStatement: true) { row in
            objects.append(
                SchemaObject(
                    kind: try row.value("type"),
                    name: try row.value("name"),
                    table: try row.value("tbl_name"),
                    statement: try row.optional("sql")
                )
            )
            return true
        }
        return objects
    }

    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        body: (SQLRow) throws -> Bool
    ) throws {
        try SQLError.translating {
            let statement =
                try keepsStatement ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
            try SQLiteBindings.bind(arguments, to: statement) {
                let cursor = try Row.fetchCursor(statement)
                let columns = statement.columnNames
                while try cursor.next() != nil {
                    let row = SQLRow(columns: columns, values: try Self.values(of: statement, columns))
                    guard try body(row) else { return }
                }
            }
        }
    }

    /// The values of the statement's current row. GRDB's `Row` would copy more.
    private static func values(of statement: Statement, _ columns: [String]) throws -> [SQLValue] {
        var values: [SQLValue] = []
        values.reserveCapacity(columns.count)
        for (index, name) in columns.enumerated() {
            guard let value = SQLiteColumn.value(statement.sqliteStatement, Int32(truncatingIfNeeded: index)) else {
                throw SQLRow.damage(in: name)
            }
            values.append(value)
        }
        return values
    }
}

extension SQLError {
    init(_ error: DatabaseError) {
        // When a step of a backup fails, GRDB takes the message from a connection on which nothing failed.
        let message = error.message == Self.text(SQLITE_OK) ? nil : error.message
        self.init(Self.kind(error.resultCode), message ?? Self.text(error.resultCode.rawValue))
    }

    /// - Parameter code: a result code of SQLite.
    init(code: Int32) {
        let result = DatabaseError(resultCode: ResultCode(rawValue: code)).resultCode
        let isResult = [SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code)
        self.init(isResult ? .corrupt : Self.kind(result), Self.text(code))
    }

    /// SQLite's sentence for a result code.
    private static func text(_ code: CInt) -> String { String(cString: sqlite3_errstr(code)) }

    private static func kind(_ code: ResultCode) -> Kind {
        switch code {
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupt
        case .SQLITE_ERROR, .SQLITE_FORMAT: .mismatch
        case .SQLITE_CANTOPEN: .cannotOpen
        case .SQLITE_NOMEM, .SQLITE_PERM, .SQLITE_AUTH: .denied
        case .SQLITE_FULL, .SQLITE_IOERR: .writeFailed
        case .SQLITE_READONLY: .readOnly
        default: .other
        }
    }

    /// Runs `body`, and converts errors of GRDB to `SQLError`.
    static func translating<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError { throw SQLError(error) }
    }
}
