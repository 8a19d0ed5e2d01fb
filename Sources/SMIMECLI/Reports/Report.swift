import ByteStreams
import Foundation
import InternetMessage
import Synchronization

/// A report as JSON: one object on one line, its keys in snake_case and sorted, `"schema": 1` among them.
enum Report {
    /// The version of all our reports. Under one version keys may be added, but none changes its meaning.
    static let schema = 1

    private static let begun = Atomic(false)
    /// Whether a report was printed, or a part of one: there is only one object on standard output.
    static var isBegun: Bool { begun.load(ordering: .relaxed) }

    /// Notes that standard output has a report.
    static func begin() { begun.store(true, ordering: .relaxed) }

    /// Prints `report`, whose encoding must be an object.
    static func print(_ report: some Encodable) throws {
        let text = try text(report)
        begin()
        try Console.print(text)
    }

    /// The line that `print` prints.
    static func text(_ report: some Encodable) throws -> String {
        String(decoding: try encoder().encode(Versioned(report: report)), as: UTF8.self).escapedForJSON
    }

    /// The encoder for all JSON.
    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    private struct Versioned<Body: Encodable>: Encodable {
        let report: Body

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(Report.schema, forKey: .schema)
        }
    }

    private enum Key: CodingKey { case schema }
}
