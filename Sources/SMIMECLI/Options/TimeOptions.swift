import ArgumentParser
import Foundation

/// Options for verbs that judge validity.
struct TimeOptions: ParsableArguments {
    @Option(name: .customLong("time"), help: .time, transform: Self.parse) var given: Date?

    /// The time at which validity is judged.
    var date: Date { given ?? .now }

    /// The times that a certificate can contain: X.509 ends with the year 9999.
    private static let range =
        Date(timeIntervalSince1970: -62_135_596_800)..<Date(timeIntervalSince1970: 253_402_300_800)

    static func parse(_ text: String) throws -> Date {
        guard let date = parsed(text), range.contains(date) else {
            throw ValidationError("'\(text)' is not a time like 2026-01-31T12:00:00Z")
        }
        return date
    }

    /// The seconds of a duration such as `30d`.
    static func interval(_ text: String) throws -> TimeInterval {
        let units: [Character: Double] = ["h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Double(text.dropLast()), number.isFinite,
            number >= 0, number <= 1_000_000
        else { throw ValidationError("'\(text)' is not a time like 12h, 30d, 8w or 1y") }
        return number * unit
    }

    private static func parsed(_ text: String) -> Date? {
        // Foundation would read the 30th of February as the 2nd of March, and 24:00 as 00:00 of the next day.
        let day = Date.ISO8601FormatStyle().year().month().day()
        guard let parsed = try? Date(String(text.prefix(10)), strategy: day), parsed.formatted(day) == text.prefix(10),
            !text.dropFirst(10).hasPrefix("T24")
        else { return nil }
        let styles = [Date.ISO8601FormatStyle(), .init(includingFractionalSeconds: true)]
        for style in styles {
            if let date = try? Date(text, strategy: style) { return date }
        }
        return try? Date(text, strategy: .iso8601.year().month().day())
    }
}
