import Foundation
import InternetMessage

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
            let last = row.lastIndex { !$0.isEmpty } ?? 0
            return zip(row, widths).prefix(last + 1).enumerated().map { index, cell in
                index == last ? cell.0 + "\n" : cell.0 + String(repeating: " ", count: cell.1 - cell.0.count + 2)
            }.joined()
        }.joined()
    }
}
