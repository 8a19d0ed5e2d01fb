import InternetMessage

/// A row of a report: a label and a value that may continue on further lines, which are indented.
struct ReportRow {
    private let label: String
    private let value: String
    /// The indentation of the further lines.
    private let indent: Int

    /// A row whose value stands in the second column of the report.
    init(_ name: String, value: String) {
        label = Self.padded("  \(name)", to: Self.valueColumn - 1) + " "
        self.value = value
        indent = Self.valueColumn
    }

    /// A remark: the label and the value are one sentence.
    ///
    /// - Parameter level: 0 for a remark on the message, 1 for a remark on the row above.
    init(remark value: String, label: String, level: Int = 0) {
        let blanks = String(repeating: " ", count: 2 * level + 2)
        self.label = "\(blanks)\(label): "
        self.value = value
        indent = blanks.count + 2
    }

    /// The lines of the row, escaped for display.
    ///
    /// If a word of the value does not fit beside the label, the value begins below the label, where it has more room.
    ///
    /// - Parameter width: the number of columns of a line; nil for no limit.
    func lines(width: Int?) -> [String] {
        let (label, value) = (label.escapedForDisplay, value.escapedForDisplay)
        guard let width, label.columnCount + value.columnCount > width else { return [label + value] }
        let longest = value.split(separator: " ").map(\.columnCount).max() ?? 0
        if longest <= width - max(indent, label.columnCount) {
            let text = WrappedText(value, width: width - indent, taken: label.columnCount - indent)
            return Self.indented(text.lines, first: label, by: indent)
        }
        let end = label.lastIndex { $0 != " " } ?? label.startIndex
        let lines = WrappedText(value, width: width - Self.belowIndent).lines
        return Self.indented([""] + lines, first: String(label[...end]), by: Self.belowIndent)
    }

    private static func indented(_ lines: [String], first: String, by count: Int) -> [String] {
        let blanks = String(repeating: " ", count: count)
        return lines.enumerated().map { ($0 == 0 ? first : blanks) + $1 }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.columnCount))
    }

    /// The column in which the values begin.
    private static let valueColumn = 14
    /// The indentation of a value that begins below its label.
    private static let belowIndent = 4
}
