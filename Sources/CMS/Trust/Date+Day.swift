package import Foundation

extension Date {
    /// The day in UTC, as 2026-01-31.
    package var day: String { formatted(.iso8601.year().month().day()) }
}
