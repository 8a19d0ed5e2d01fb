package import SwiftASN1

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#else
package import Darwin
#endif

extension ASN1Node {
    /// The time of a UTCTime or GeneralizedTime.
    ///
    /// RFC 5280 §4.1.2.5 requires seconds and `Z`. This function also accepts times without seconds, with a fraction of a
    /// second (which is dropped), or with an offset instead of `Z`, as BER allows.
    package func time() throws -> Date {
        guard identifier == .utcTime || identifier == .generalizedTime else {
            throw ElementReader.Mismatch(description: "\(identifier) is not a time")
        }
        var digits = TimeDigits(try primitive())
        let year: Int
        if identifier == .utcTime {
            let short = try digits.number(2)
            year = short < 50 ? 2000 + short : 1900 + short
        } else {
            year = try digits.number(2) * 100 + digits.number(2)
        }
        let (month, day) = (try digits.number(2), try digits.number(2))
        let (hour, minute) = (try digits.number(2), try digits.number(2))
        let second = digits.isAtDigit ? try digits.number(2) : 0
        let offset = try digits.offset()
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60 else {
            throw ElementReader.Mismatch(description: "a time is out of range")
        }
        let seconds = daysSince1970(year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}

/// The number of days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the leap
/// day comes last.
private func daysSince1970(_ year: Int, month: Int, day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let leapDays = shifted / 4 - shifted / 100 + shifted / 400
    return shifted * 365 + leapDays + dayOfYear - 719_468
}

/// Reads the digits of a time.
private struct TimeDigits {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtDigit: Bool { rest.first.map { (0x30...0x39).contains($0) } ?? false }

    mutating func number(_ count: Int) throws -> Int {
        var value = 0
        for _ in 0..<count {
            guard isAtDigit, let digit = rest.popFirst() else {
                throw ElementReader.Mismatch(description: "a time lacks digits")
            }
            value = value * 10 + Int(digit - 0x30)
        }
        return value
    }

    /// Skips the fraction of a second, if there is one, and reads the offset from UTC in seconds.
    mutating func offset() throws -> Int {
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop { (0x30...0x39).contains($0) } }
        switch rest.popFirst() {
        case UInt8(ascii: "Z"):
            guard rest.isEmpty else { throw ElementReader.Mismatch(description: "a time is too long") }
            return 0
        case let sign? where sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"):
            let seconds = try number(2) * 3600 + number(2) * 60
            guard rest.isEmpty else { throw ElementReader.Mismatch(description: "a time is too long") }
            return sign == UInt8(ascii: "+") ? seconds : -seconds
        default: throw ElementReader.Mismatch(description: "a time has no zone")
        }
    }
}

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
    /// Foundation's Calendar takes longer than verifying a signature.
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
