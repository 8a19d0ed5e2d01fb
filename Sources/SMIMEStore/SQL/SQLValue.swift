import Foundation

/// A value in a column, or an argument of a statement.
enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
}

/// A type whose values can be stored in a column.
protocol SQLConvertible {
    var sqlValue: SQLValue { get }

    /// Nil if the value has another type.
    init?(_ sqlValue: SQLValue)
}

/// The arguments of a statement, in the order of its placeholders. Nil means NULL.
struct SQLArguments: ExpressibleByArrayLiteral {
    private(set) var values: [SQLValue]

    init(_ values: [some SQLConvertible]) { self.values = values.map(\.sqlValue) }

    init(arrayLiteral elements: (any SQLConvertible)?...) { values = elements.map { $0?.sqlValue ?? .null } }

    init(storing values: [SQLValue]) { self.values = values }

    static func + (left: SQLArguments, right: SQLArguments) -> SQLArguments {
        var sum = left
        sum.values += right.values
        return sum
    }
}

extension Int64: SQLConvertible {
    var sqlValue: SQLValue { .integer(self) }

    init?(_ sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self = number
    }
}

extension Int: SQLConvertible {
    var sqlValue: SQLValue { .integer(Int64(self)) }

    init?(_ sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self.init(exactly: number)
    }
}

extension Bool: SQLConvertible {
    var sqlValue: SQLValue { .integer(self ? 1 : 0) }

    init?(_ sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self = number != 0
    }
}

extension String: SQLConvertible {
    var sqlValue: SQLValue { .text(self) }

    init?(_ sqlValue: SQLValue) {
        guard case .text(let text) = sqlValue else { return nil }
        self = text
    }
}

extension [UInt8]: SQLConvertible {
    var sqlValue: SQLValue { .blob(self) }

    init?(_ sqlValue: SQLValue) {
        guard case .blob(let bytes) = sqlValue else { return nil }
        self = bytes
    }
}

extension Data: SQLConvertible {
    var sqlValue: SQLValue { .blob([UInt8](self)) }

    init?(_ sqlValue: SQLValue) {
        guard case .blob(let bytes) = sqlValue else { return nil }
        self.init(bytes)
    }
}

/// Dates are stored as whole seconds since 1970.
extension Date: SQLConvertible {
    var sqlValue: SQLValue { .integer(Int64(seconds)) }

    init?(_ sqlValue: SQLValue) {
        guard let seconds = Int64(sqlValue) else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// The time as whole seconds since 1970.
    var seconds: Int { Int(exactly: timeIntervalSince1970.rounded(.down)) ?? 0 }
}

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

/// An error of a database, the same for every engine.
struct SQLError: Error {
    enum Kind: Sendable {
        /// Other connections use the database.
        case busy
        /// The transaction conflicted with a concurrent one. It was rolled back and may be run again.
        case conflict
        /// The connection was lost before the commit: the transaction was rolled back.
        case disconnected
        /// The server cannot be reached, or the connection was lost during a commit.
        case unreachable
        /// The database is damaged, or a value has an unexpected type.
        case corrupt
        /// The statement does not match the existing tables.
        case mismatch
        /// The database cannot be opened.
        case cannotOpen
        /// Memory is exhausted, or the process lacks a right.
        case denied
        /// The database role lacks a right.
        case forbidden
        /// The disk is full or failing.
        case writeFailed
        /// The database is read-only.
        case readOnly
        case other
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
