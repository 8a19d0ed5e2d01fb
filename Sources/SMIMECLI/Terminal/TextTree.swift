import Foundation
import InternetMessage

/// Lines below each other, safe to print: a tree with branches on a terminal that has the characters, else indented.
struct TextTree {
    private var lines: [(level: Int, text: String)]

    private let indent: String

    /// - Parameter indent: in front of every line.
    init(_ root: String, indent: String = "") {
        lines = [(0, root.escapedForDisplay)]
        self.indent = indent
    }

    /// - Parameter level: 1 is below the root; no line is more than one level below the line before it.
    mutating func add(_ line: String, level: Int) { lines.append((level, line.escapedForDisplay)) }

    /// The lines, each with its end.
    var text: String { text(hasBranches: isatty(STDOUT_FILENO) == 1 && Terminal.isUnicode) }

    func text(hasBranches: Bool) -> String {
        guard hasBranches else {
            return lines.map { indent + String(repeating: "  ", count: $0.level) + $0.text + "\n" }.joined()
        }
        // From the last line up: whether a branch of a level goes on below.
        var goesOn: [Bool] = []
        let drawn = lines.reversed().map { level, text in
            goesOn = Array((goesOn + Array(repeating: false, count: max(0, level - goesOn.count))).prefix(level))
            let stems = goesOn.dropLast().map { $0 ? "\u{2502} " : "  " }.joined()
            let branch = goesOn.last.map { $0 ? "\u{251C}\u{2500}" : "\u{2514}\u{2500}" } ?? ""
            if level > 0 { goesOn[level - 1] = true }
            return "\(indent)\(stems)\(branch)\(branch.isEmpty ? "" : " ")\(text)\n"
        }
        return drawn.reversed().joined()
    }
}
