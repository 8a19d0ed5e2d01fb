#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#else
package import Darwin
#endif

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension Date {
    /// The date in UTC, such as 2026-01-31.
    package var day: String { String(timestamp.prefix { $0 != "T" }) }

    /// The date and time in UTC to the second, such as 2026-01-31T12:00:00Z (RFC 3339).
    package var timestamp: String {
        guard let parts = partsInUTC, (-1900..<8100).contains(parts.tm_year) else { return formatted(.iso8601) }
        let year = String(10_000 + 1900 + Int(parts.tm_year)).dropFirst()
        return "\(year)-" + parts.monthAndDay.joined(separator: "-") + "T" + parts.clock.joined(separator: ":") + "Z"
    }

    /// Year, month, day and time of day in UTC; nil if the year is too large.
    ///
    /// Foundation's Calendar would take longer than a signature.
    package var partsInUTC: tm? {
        var parts = tm()
        guard var seconds = time_t(exactly: timeIntervalSince1970.rounded(.down)), gmtime_r(&seconds, &parts) != nil
        else { return nil }
        return parts
    }

    fileprivate static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension tm {
    /// The month and the day, each as two digits.
    package var monthAndDay: [String] { [tm_mon + 1, tm_mday].map(Date.twoDigits) }
    /// The hours, minutes and seconds, each as two digits.
    package var clock: [String] { [tm_hour, tm_min, tm_sec].map(Date.twoDigits) }
}
