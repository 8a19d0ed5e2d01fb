import GRDB
import GRDBSQLite

/// A connection of GRDB inside of a transaction.
struct SQLiteConnection: SQLConnection {
    /// The file is its owner's alone.
    let keepsVerdicts = true

    private let database: Database

    init(_ database: Database) { self.database = database }

    func execute(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try SQLError.translating {
            let connection = database.sqliteConnection
            let before = sqlite3_total_changes(connection)
            let statement = try database.cachedStatement(sql: sql)
            try SQLiteBindings.bind(arguments, to: statement) { try statement.execute() }
            // After CREATE TABLE, sqlite3_changes still has the count of the statement before.
            return sqlite3_total_changes(connection) == before ? 0 : Int(sqlite3_changes(connection))
        }
    }

    func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        _ = try execute(sql, arguments)
        return database.lastInsertedRowID
    }

    /// SQLite looks for the greatest key each time.
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

    func query(
        _ sql: String,
        _ arguments: SQLArguments,
        keepsStatement: Bool,
        _ body: (SQLRow) throws -> Bool
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

    /// The row that the statement is at, read without GRDB's own row, which copies more.
    private static func values(of statement: Statement, _ columns: [String]) throws -> [SQLValue] {
        var values: [SQLValue] = []
        values.reserveCapacity(columns.count)
        for (index, name) in columns.enumerated() {
            guard let value = value(statement.sqliteStatement, Int32(truncatingIfNeeded: index)) else {
                throw SQLRow.damage(in: name)
            }
            values.append(value)
        }
        return values
    }

    /// Nil for a floating-point number, which no column of a store has.
    private static func value(_ statement: SQLiteStatement, _ index: Int32) -> SQLValue? {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, index))
        case SQLITE_TEXT:
            // The text must be asked for before its length.
            .text(
                String(
                    decoding: bytes(UnsafeRawPointer(sqlite3_column_text(statement, index)), statement, index: index),
                    as: UTF8.self
                )
            )
        case SQLITE_BLOB: .blob([UInt8](bytes(sqlite3_column_blob(statement, index), statement, index: index)))
        default: nil
        }
    }

    private static func bytes(
        _ start: UnsafeRawPointer?,
        _ statement: SQLiteStatement,
        index: Int32
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, index)))
    }
}
