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
