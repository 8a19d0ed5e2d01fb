import CPostgreSQL

/// The server's answer to a statement: rows in binary form, or the number of changed rows.
final class PostgreSQLResult {
    private let library: PostgreSQLLibrary
    private let result: OpaquePointer

    /// - Parameter result: the result, which this object frees.
    init(_ library: PostgreSQLLibrary, takingOwnership result: OpaquePointer) {
        self.library = library
        self.result = result
    }

    deinit { library.clear(result) }

    /// The status of the result, one of `PGRES_…`.
    var status: Int { Int(library.resultStatus(result)) }

    /// The number of inserted, updated or deleted rows.
    var changedCount: Int { library.changedRows(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// The error code (`SQLSTATE`) and message. The message contains no values of the statement; the details might.
    var error: (state: String?, message: String?) {
        (field(PG_DIAG_SQLSTATE), field(PG_DIAG_MESSAGE_PRIMARY))
    }

    /// The key in the first column of the only row.
    func insertedID() throws -> Int64 {
        guard let row = try rows().first, let id = try row.first(as: Int64.self) else { throw SQLRow.damage(in: "id") }
        return id
    }

    /// All rows, copied from the result.
    func rows() throws -> [SQLRow] {
        var rows: [SQLRow] = []
        let columns = columns
        for row in 0..<library.rowCount(result) { rows.append(try self.row(row, columns)) }
        return rows
    }

    /// Passes the rows to `body` until `body` returns false.
    ///
    /// - Returns: whether all rows were passed.
    func forEach(_ body: (SQLRow) throws -> Bool) throws -> Bool {
        let columns = columns
        for row in 0..<library.rowCount(result) {
            guard try body(self.row(row, columns)) else { return false }
        }
        return true
    }

    var isEmpty: Bool { library.rowCount(result) == 0 }

    private var columns: [(name: String, type: Oid)] {
        (0..<library.columnCount(result)).map { column in
            (library.columnName(result, column).map { String(cString: $0) } ?? "", library.columnType(result, column))
        }
    }

    private func row(_ row: Int32, _ columns: [(name: String, type: Oid)]) throws -> SQLRow {
        var values: [SQLValue] = []
        values.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() {
            guard let value = value(row: row, column: Int32(truncatingIfNeeded: index), column.type) else {
                throw SQLRow.damage(in: column.name)
            }
            values.append(value)
        }
        return SQLRow(columns: columns.map(\.name), values: values)
    }

    /// The value at `row` and `column`; nil for a type that the store does not use.
    private func value(row: Int32, column: Int32, _ type: Oid) -> SQLValue? {
        guard library.isNull(result, row, column) == 0 else { return .null }
        let count = Int(library.length(result, row, column))
        let bytes = UnsafeRawBufferPointer(start: library.value(result, row, column), count: count)
        switch Int(type) {
        case BOOLOID where count == 1: return .integer(bytes[0] == 0 ? 0 : 1)
        case INT4OID where count == 4:
            return .integer(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
        case INT8OID where count == 8:
            return .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case TEXTOID: return .text(String(decoding: bytes, as: UTF8.self))
        case BYTEAOID: return .blob([UInt8](bytes))
        default: return nil
        }
    }

    private func field(_ field: Int) -> String? {
        library.errorField(result, Int32(truncatingIfNeeded: field)).map { String(cString: $0) }
    }
}
