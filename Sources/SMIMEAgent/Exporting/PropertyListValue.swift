import Foundation

/// A value of a property list.
enum PropertyListValue: Encodable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
    case text(String)
    case flag(Bool)
    case number(Int)
    case data([UInt8])
    case list([PropertyListValue])
    case dictionary([String: PropertyListValue])

    init(stringLiteral value: String) { self = .text(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(integerLiteral value: Int) { self = .number(value) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .data(let bytes): try container.encode(Data(bytes))
        case .list(let values): try container.encode(values)
        case .dictionary(let values): try container.encode(values)
        }
    }

    /// The value as a property list in XML.
    var xml: [UInt8] {
        get throws {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .xml
            return Array(try encoder.encode(self))
        }
    }
}
