import GRDB
import GRDBSQLite

/// Binds the arguments of a statement while the statement runs.
///
/// GRDB's own arguments need several allocations for each value, which takes more time than most statements. Here all texts
/// and blobs are in one buffer, which SQLite reads without copying.
enum SQLiteBindings {
    /// Binds `arguments` to `statement` while `body` runs it.
    static func bind<Value>(
        _ arguments: SQLArguments,
        to statement: Statement,
        during body: () throws -> Value
    ) throws -> Value {
        let values = arguments.values
        let handle = statement.sqliteStatement
        guard Int(sqlite3_bind_parameter_count(handle)) == values.count else {
            throw SQLError(.other, "wrong number of arguments: \(values.count)")
        }
        guard !values.isEmpty else { return try body() }
        // The values are bound below, so GRDB must neither check nor bind them. GRDB expects a statement that is not
        // running.
        sqlite3_reset(handle)
        statement.setUncheckedArguments(StatementArguments())
        return try buffer(of: values).withUnsafeBytes { bytes in
            // The buffer is no longer valid after this function.
            defer { sqlite3_clear_bindings(handle) }
            var rest = bytes.dropFirst()
            for (index, value) in values.enumerated() {
                try bind(value, from: &rest, to: handle, at: Int32(truncatingIfNeeded: index + 1))
            }
            return try body()
        }
    }

    /// All texts and blobs, concatenated after one unused byte. Without that byte an empty buffer could have a null
    /// pointer, which means NULL to SQLite.
    private static func buffer(of values: [SQLValue]) -> [UInt8] {
        var buffer: [UInt8] = [0]
        for value in values {
            switch value {
            case .null, .integer: break
            case .text(let text): buffer += text.utf8
            case .blob(let bytes): buffer += bytes
            }
        }
        return buffer
    }

    private static func bind(
        _ value: SQLValue,
        from bytes: inout Slice<UnsafeRawBufferPointer>,
        to handle: SQLiteStatement,
        at index: Int32
    ) throws {
        let start = bytes.base.baseAddress?.advanced(by: bytes.startIndex)
        let code: Int32
        switch value {
        case .null: code = sqlite3_bind_null(handle, index)
        case .integer(let number): code = sqlite3_bind_int64(handle, index, number)
        case .text(let text):
            let count = text.utf8.count
            bytes = bytes.dropFirst(count)
            let characters = start?.assumingMemoryBound(to: CChar.self)
            code = sqlite3_bind_text64(handle, index, characters, UInt64(count), nil, UInt8(SQLITE_UTF8))
        case .blob(let blob):
            bytes = bytes.dropFirst(blob.count)
            code = sqlite3_bind_blob64(handle, index, start, UInt64(blob.count), nil)
        }
        guard code == SQLITE_OK else { throw SQLError(.other, String(cString: sqlite3_errstr(code))) }
    }
}

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
