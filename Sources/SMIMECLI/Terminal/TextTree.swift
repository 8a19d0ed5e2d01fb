import Foundation
import InternetMessage

/// Lines in the form of a tree, safe to print: with branches if the terminal has these characters, otherwise indented.
struct TextTree {
    private var lines: [(level: Int, text: String)]

    private let indent: String

    /// - Parameter indent: text in front of every line.
    init(_ root: String, indent: String = "") {
        lines = [(0, root.escapedForDisplay)]
        self.indent = indent
    }

    /// A tree that begins with the first line added, at level 0.
    init() { (lines, indent) = ([], "") }

    /// - Parameter level: 1 for a line directly below the root. No line is more than one level below the preceding line.
    mutating func add(_ line: String, level: Int) { lines.append((level, line.escapedForDisplay)) }

    /// The lines, each with its line end, for standard output.
    var text: String {
        text(hasBranches: Self.hasBranches(on: STDOUT_FILENO), width: Terminal.width(STDOUT_FILENO))
    }

    /// The lines for `descriptor`.
    ///
    /// - Parameter taken: the number of columns of each line that the caller uses.
    func lines(on descriptor: Int32, taken: Int) -> [String] {
        let width = Terminal.width(descriptor).map { $0 - taken }
        return text(hasBranches: Self.hasBranches(on: descriptor), width: width).split(separator: "\n").map(String.init)
    }

    private static func hasBranches(on descriptor: Int32) -> Bool { isatty(descriptor) == 1 && Terminal.isUnicode }

    /// - Parameter width: the number of columns of the terminal, at which lines are wrapped; nil for no wrapping.
    func text(hasBranches: Bool, width: Int?) -> String {
        guard hasBranches else {
            return lines.map { level, text in
                let stem = indent + String(repeating: "  ", count: level)
                return Self.wrapped(text, behind: stem, then: stem + "  ", width)
            }.joined()
        }
        // Whether the branch of each level continues below; computed from the last line upwards.
        var goesOn: [Bool] = []
        let drawn = lines.reversed().map { level, text in
            let hasChildren = goesOn.count > level && goesOn[level]
            goesOn = Array((goesOn + Array(repeating: false, count: max(0, level - goesOn.count))).prefix(level))
            let stems = goesOn.dropLast().map { $0 ? "\u{2502} " : "  " }.joined()
            let branch = goesOn.last.map { $0 ? "\u{251C}\u{2500}" : "\u{2514}\u{2500}" } ?? ""
            let below = goesOn.map { $0 ? "\u{2502} " : "  " }.joined()
            if level > 0 { goesOn[level - 1] = true }
            return Self.wrapped(
                text,
                behind: "\(indent)\(stems)\(branch)\(branch.isEmpty ? "" : " ")",
                then: "\(indent)\(below)\(hasChildren ? "\u{2502} " : "  ")\(level > 0 ? " " : "")",
                width
            )
        }
        return drawn.reversed().joined()
    }

    /// `text` with its line end, wrapped to `width`: the first line begins with `first`, all others with `next`.
    private static func wrapped(_ text: String, behind first: String, then next: String, _ width: Int?) -> String {
        guard let width else { return "\(first)\(text)\n" }
        let lines = WrappedText(text, width: width - next.columnCount).lines
        return first + lines.joined(separator: "\n" + next) + "\n"
    }
}
