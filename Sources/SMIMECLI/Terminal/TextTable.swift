import Foundation
import InternetMessage

/// Rows of text in aligned columns, safe to print.
struct TextTable {
    private var rows: [[String]] = []
    /// Whether the last column is wrapped instead of cut if the terminal is too narrow for it. If there is no room beside the
    /// other columns, the last one stands below them. The other columns are not cut.
    var wrapsLast = false

    mutating func add(_ cells: String...) { rows.append(cells.map(\.escapedForDisplay)) }

    var isEmpty: Bool { rows.isEmpty }

    /// The lines, each with its line end; the last column is not padded. On a terminal, the lines are cut to its width.
    var text: String { lines(width: Terminal.width(STDOUT_FILENO)).joined() }

    /// The lines, each followed by the element of `others` with the same index.
    func text(between others: [String]) -> String {
        zip(lines(width: Terminal.width(STDOUT_FILENO)), others).map { $0 + $1 }.joined()
    }

    /// - Parameter width: the number of columns of the terminal; nil for no limit.
    private func lines(width: Int?) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let counts = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].columnCount : 0 } }
        var widths = counts.map { $0.max() ?? 0 }
        if wrapsLast { return wrappedLines(widths, width: width) }
        if let width {
            let room = width - Self.gap * max(0, columns - 1)
            // Names are cut before dates and fingerprints. All dates and fingerprints of a column have the same length.
            let names = counts.indices.filter { Set(counts[$0]).count > 1 }
            Self.narrow(&widths, columns: names, to: room)
            Self.narrow(&widths, columns: Array(counts.indices), to: room)
        }
        return rows.map { row in
            let last = row.lastIndex { !$0.isEmpty } ?? 0
            return zip(row, widths).prefix(last + 1).enumerated().map { index, cell in
                let text = Self.cut(cell.0, to: cell.1)
                return index == last ? text + "\n" : Self.padded(text, to: cell.1 + Self.gap)
            }.joined()
        }
    }

    /// The lines with a wrapped last column; all rows have as many cells as `widths`.
    private func wrappedLines(_ widths: [Int], width: Int?) -> [String] {
        let others = widths.dropLast().reduce(0) { $0 + $1 + Self.gap }
        let isBelow = width.map { $0 - others < min(widths.last ?? 0, WrappedText.leastWidth) } ?? false
        let indent = isBelow ? Self.indent : others
        return rows.map { row in
            let first = zip(row.dropLast(), widths).map { Self.padded($0, to: $1 + Self.gap) }.joined()
            let text = row.last ?? ""
            let lines = width.map { WrappedText(text, width: $0 - indent).lines } ?? [text]
            let head = row.dropLast().allSatisfy(\.isEmpty) ? "" : String(first.dropLast(Self.gap)) + "\n"
            let start = isBelow ? head + Self.padded("", to: indent) : first
            return start + lines.joined(separator: "\n" + Self.padded("", to: indent)) + "\n"
        }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.columnCount))
    }

    private static func cut(_ text: String, to width: Int) -> String {
        text.columnCount > width ? text.prefix(columns: width - 1) + mark : text
    }

    /// Narrows the widest of `columns` until all fit into `width`, or all have the minimum width.
    private static func narrow(_ widths: inout [Int], columns: [Int], to width: Int) {
        while widths.reduce(0, +) > width, let widest = columns.max(by: { widths[$0] < widths[$1] }),
            widths[widest] > leastWidth
        {
            widths[widest] -= 1
        }
    }

    /// The number of blanks between two columns.
    private static let gap = 2
    /// The indentation of a last column that stands below the others.
    private static let indent = 2
    /// The minimum width of a column.
    private static let leastWidth = 12
    /// The character at the end of a cell that was cut.
    private static var mark: String { Terminal.isUnicode ? "…" : "~" }
}
