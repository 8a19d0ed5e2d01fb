import ByteStreams
import Foundation
import InternetMessage
import Synchronization

/// A report as JSON: one object on one line, with sorted keys in snake_case, including `"schema": 1`.
enum Report {
    /// The version of all reports of smime. Within one version, keys may be added, but no key changes its meaning.
    static let schema = 1

    private static let begun = Atomic(false)
    /// Whether a report, or a part of one, was printed. Standard output contains only one object.
    static var isBegun: Bool { begun.load(ordering: .relaxed) }

    /// Records that standard output contains a report.
    static func begin() { begun.store(true, ordering: .relaxed) }

    /// Prints `report`, which must be encoded as an object.
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
