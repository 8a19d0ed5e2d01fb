import GRDB
import GRDBSQLite

/// Reads the columns of a statement's current row.
enum SQLiteColumn {
    /// The value in the column `index`; nil for a floating-point number, which the store does not use.
    static func value(_ statement: SQLiteStatement, _ index: Int32) -> SQLValue? {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, index))
        case SQLITE_TEXT:
            // SQLite requires reading the text before its length.
            .text(
                String(
                    decoding: bytes(UnsafeRawPointer(sqlite3_column_text(statement, index)), statement, at: index),
                    as: UTF8.self
                )
            )
        case SQLITE_BLOB: .blob([UInt8](bytes(sqlite3_column_blob(statement, index), statement, at: index)))
        default: nil
        }
    }

    private static func bytes(
        _ start: UnsafeRawPointer?,
        _ statement: SQLiteStatement,
        at index: Int32
    ) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, index)))
    }
}
