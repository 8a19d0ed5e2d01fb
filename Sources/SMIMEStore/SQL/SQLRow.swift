/// A row of a result, copied from it.
struct SQLRow: Sendable {
    private let columns: [String]
    private let values: [SQLValue]

    /// - Parameter columns: the names of `values`, in the same order.
    init(columns: [String], values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    /// The columns with their stored values.
    var stored: [(column: String, value: SQLValue)] { Array(zip(columns, values)).map { ($0, $1) } }

    /// The value in the first column; nil if it is NULL.
    ///
    /// - Throws: `SQLError` of the kind `.corrupt` if the value has another type.
    func first<Value: SQLConvertible>(as type: Value.Type) throws -> Value? {
        try values.first.flatMap { try Self.convert($0, in: "the result") }
    }

    /// The value in `column`.
    ///
    /// - Throws: `SQLError` of the kind `.corrupt` if the value is NULL or has another type, or if there is no such column.
    func value<Value: SQLConvertible>(_ column: String) throws -> Value {
        guard let value = try optional(column) as Value? else { throw Self.damage(in: column) }
        return value
    }

    /// The value in `column`; nil if it is NULL, or there is no such column.
    ///
    /// - Throws: `SQLError` of the kind `.corrupt` if the value has another type.
    func optional<Value: SQLConvertible>(_ column: String) throws -> Value? {
        // Rows have few columns with short names: a dictionary would not be faster.
        guard let index = columns.firstIndex(of: column) else { return nil }
        return try Self.convert(values[index], in: column)
    }

    private static func convert<Value: SQLConvertible>(_ stored: SQLValue, in column: String) throws -> Value? {
        if case .null = stored { return nil }
        guard let value = Value(stored) else { throw damage(in: column) }
        return value
    }

    /// The error for a value of the wrong type in `column`.
    static func damage(in column: String) -> SQLError { SQLError(.corrupt, "a value of the wrong type in \(column)") }
}
