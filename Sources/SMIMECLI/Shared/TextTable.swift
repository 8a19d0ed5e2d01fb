import Foundation
import MIME

/// Rows of text in aligned columns, safe to print.
struct TextTable {
    private var rows: [[String]] = []

    mutating func add(_ cells: String...) { rows.append(cells.map(\.escapedForDisplay)) }

    var isEmpty: Bool { rows.isEmpty }

    /// The lines, each with its end; the last column is not padded.
    var text: String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }
}

extension Date {
    /// The day in UTC, as 2026-01-31.
    var day: String { formatted(.iso8601.year().month().day()) }
}
