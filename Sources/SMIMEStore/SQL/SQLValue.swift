import ByteStreams
import Foundation
import InternetMessage

/// A value in a column, or an argument of a statement.
enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// Compares the bytes of texts, as databases do. Swift considers canonically equivalent strings equal.
    static func == (one: SQLValue, other: SQLValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.text(let one), .text(let other)): ExactText(one) == ExactText(other)
        case (.blob(let one), .blob(let other)): one == other
        default: false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .null: break
        case .integer(let number): hasher.combine(number)
        case .text(let text): hasher.combine(ExactText(text))
        case .blob(let bytes): hasher.combine(all: bytes)
        }
    }
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

    /// The time as whole seconds since 1970, rounded down; 0 if `Int` cannot represent it.
    var seconds: Int { Int(exactly: timeIntervalSince1970.rounded(.down)) ?? 0 }
}
