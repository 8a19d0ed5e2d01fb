#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The time in a Date field.
///
/// Obsolete forms are accepted: named or missing zones, years of two or three digits, comments, missing seconds.
///
/// RFC 5322 §3.3, §4.3
package struct MessageDate: Sendable, Hashable {
    /// The point in time, independent of the zone in the field.
    package let date: Date

    /// The date field value for the point in time `date`.
    package init(_ date: Date) { self.date = date }

    /// Reads the body of a field; nil if it is not a valid date and time.
    package init?(_ text: String) {
        var words = Self.words(text)
        if let first = words.first, Self.weekdays.contains(String(first.prefix(3)).lowercased()),
            first.first?.isLetter == true
        {
            words.removeFirst()
        }
        guard words.count >= 4, let day = Int(words[0]), (1...31).contains(day),
            let month = Self.months.firstIndex(of: words[1].lowercased()), let year = Self.year(words[2]),
            let seconds = Self.seconds(words[3])
        else { return nil }
        let zone = words.count > 4 ? Self.zone(words[4]) : 0
        // Foundation's Calendar would take longer than all other work on a message's header.
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month), Int32(day))
        let midnight = timegm(&parts)
        // timegm(3) converts 31 April to 1 May, so this finds days that do not exist.
        guard parts.tm_mday == day else { return nil }
        date = Date(timeIntervalSince1970: TimeInterval(Int(midnight) + seconds - zone))
    }

    /// The same time as a field body in UTC (`+0000`), which does not reveal a location.
    package var universal: String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.weekday, .year, .month, .day, .hour, .minute, .second], from: date)
        func two(_ value: Int?) -> String { String(String(100 + (value ?? 0)).dropFirst()) }
        let day = Self.weekdays[((parts.weekday ?? 1) - 1) % 7].capitalized
        let month = Self.months[((parts.month ?? 1) - 1) % 12].capitalized
        let clock = [parts.hour, parts.minute, parts.second].map(two).joined(separator: ":")
        return "\(day), \(two(parts.day)) \(month) \(parts.year ?? 0) \(clock) +0000"
    }

    private static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// The words of `text`, without comments and commas. Blanks around colons are ignored.
    private static func words(_ text: String) -> [String] {
        var plain = ""
        var depth = 0
        var isEscaped = false
        func put(_ scalar: Unicode.Scalar) {
            if scalar == " ", plain.unicodeScalars.last == ":" { return }
            while scalar == ":", plain.unicodeScalars.last == " " { plain.unicodeScalars.removeLast() }
            plain.unicodeScalars.append(scalar)
        }
        for scalar in text.unicodeScalars.prefix(512) {
            switch scalar {
            case _ where isEscaped: isEscaped = false
            case "\\" where depth > 0: isEscaped = true
            case "(": depth += 1
            case ")" where depth > 0: depth -= 1
            case _ where depth > 0: break
            case ",", "\t", "\r", "\n": put(" ")
            default: put(scalar)
            }
        }
        return plain.split(separator: " ").map(String.init)
    }

    /// The year; two digits mean 1950 to 2049, and three digits count from 1900 (§4.3).
    private static func year(_ text: String) -> Int? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else { return nil }
        switch text.utf8.count {
        case 2: return number < 50 ? 2000 + number : 1900 + number
        case 3: return 1900 + number
        case 4: return number >= 1900 ? number : nil
        default: return nil
        }
    }

    /// The seconds since midnight of `hour:minute` or `hour:minute:second`; nil if invalid. A leap second counts as the last
    /// second of its minute.
    private static func seconds(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { (1...2).contains($0.utf8.count) ? UInt8($0).map(Int.init) : nil }
        guard (2...3).contains(parts.count), numbers.count == parts.count, numbers[0] < 24, numbers[1] < 60 else {
            return nil
        }
        let second = numbers.count == 3 ? numbers[2] : 0
        return second <= 60 ? numbers[0] * 3600 + numbers[1] * 60 + min(second, 59) : nil
    }

    /// The offset of a zone from UTC in seconds. Military letters and unknown zones count as UTC (§4.3).
    private static func zone(_ text: String) -> Int {
        if let sign = text.first, sign == "+" || sign == "-", text.utf8.count == 5,
            let number = UInt16(text.dropFirst())
        {
            let seconds = Int(number) / 100 * 3600 + Int(number) % 100 * 60
            return sign == "-" ? -seconds : seconds
        }
        let hours = ["est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7]
        return (hours[text.lowercased()] ?? 0) * 3600
    }
}
