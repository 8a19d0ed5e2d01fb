/// The help of a verb on one screen: the parts of the parser's text that most users need.
///
/// `--help-all` shows the parser's text in full.
package struct HelpScreen {
    /// The option that shows the full help.
    static let allOption = "--help-all"
    /// The lines of a screen, less some room for the prompt.
    private static let lineLimit = 40
    /// The column in which the parser begins explanations.
    private static let explanationColumn = 26
    /// The options that are left out if the help is longer than a screen, unless an example on the screen uses them.
    package static let rare: Set<String> = [
        "--accept-sender", "--accept-weak", "--ca-profile", "--canonical", "--color", "--compat", "--compress",
        "--crlf",
        "--digest", "--dn", "--explicit-policy", "--home", "--inform", "--jobs", "--legacy-display", "--lf", "--login",
        "--new-password-env", "--new-password-fd", "--no-chain", "--no-header-protection",
        "--no-system-anchors", "--on-change", "--online", "--opaque", "--output-dir", "--outform", "--password-env",
        "--password-fd", "--policy", "--revocation", "--secret-key-file", "--secret-key-id", "--store-password-env",
        "--store-password-fd", "--store-password-file", "--time", "--to-cert", "--version",
    ]

    /// A paragraph of the overview.
    private struct Paragraph {
        var lines: [Substring]
        /// Whether the paragraph is an example. The parser does not indent the continuation of a long line, so the first line
        /// decides.
        var isExample: Bool { lines.first?.hasPrefix("  ") == true }
    }

    private var paragraphs: [Paragraph]
    /// The sections for usage, arguments and options, each with its title.
    private var sections: [[Substring]]
    private var isComplete = true

    /// A shortened form of `text`, the parser's help; any other text is returned unchanged.
    static func shortened(_ text: String) -> String {
        guard text.hasPrefix("OVERVIEW: ") else { return text }
        var screen = HelpScreen(text)
        screen.shortenUsage()
        guard screen.lineCount > lineLimit else { return screen.text }
        let all = screen.sections
        // A paragraph that is removed may be an example, whose options are then left out as well.
        repeat {
            screen.sections = all
            screen.dropRareOptions()
        } while screen.lineCount > lineLimit && screen.dropParagraph()
        return screen.text
    }

    private init(_ text: String) {
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
            .split(omittingEmptySubsequences: true) { $0.isEmpty }.map { Array($0) }
        let first = parts.firstIndex { $0.first?.hasPrefix("USAGE: ") == true } ?? parts.endIndex
        paragraphs = parts[..<first].map { Paragraph(lines: $0) }
        sections = Array(parts[first...])
    }

    private var lineCount: Int { text.count { $0 == "\n" } + 1 }

    private var text: String {
        var parts = (paragraphs.map(\.lines) + sections).map { $0.joined(separator: "\n") }
        if !isComplete, let options = parts.lastIndex(where: { $0.contains("\n  -h, --help ") }) {
            parts[options] += "\n  \(Self.allOption)              Show all options and explanations."
        }
        return parts.joined(separator: "\n\n")
    }

    /// The options that the examples use.
    private var usedOptions: Set<String> {
        let lines = paragraphs.filter(\.isExample).flatMap(\.lines)
        return Set(lines.flatMap { $0.matches(of: /--[a-z-]+/).map { String($0.output) } })
    }

    private mutating func dropRareOptions() {
        let dropped = Self.rare.subtracting(usedOptions)
        for index in sections.indices where sections[index].count > 1 {
            var isDropped = false
            let kept = sections[index].filter { line in
                if line.hasPrefix("  -") {
                    // The explanation after the option names may mention other options, so only the names' columns are
                    // searched.
                    let names = line.prefix(Self.explanationColumn).matches(of: /--[a-z-]+/)
                    isDropped = names.contains { dropped.contains(String($0.output)) }
                }
                return !isDropped
            }
            isComplete = isComplete && kept.count == sections[index].count
            sections[index] = kept
        }
        sections.removeAll { $0.count == 1 && $0.first?.hasPrefix("USAGE: ") == false }
    }

    /// Removes optional options from a usage line that lists all of them.
    private mutating func shortenUsage() {
        for index in sections.indices {
            guard let usage = sections[index].first, usage.hasPrefix("USAGE: "), usage.count > 80 else { continue }
            let options = usage.matches(of: /\ \[-[^\]]*\]/)
            guard let first = options.first else { continue }
            let rest = usage[first.range.upperBound...].replacing(/\ \[-[^\]]*\]/, with: "")
            sections[index] = [Substring(usage[..<first.range.lowerBound] + " [<options>]" + rest)]
        }
    }

    /// Removes the last paragraph that is not an example, together with the examples that it introduces.
    ///
    /// - Returns: whether a paragraph was removed. The first paragraph, which says what the verb is for, is always kept.
    private mutating func dropParagraph() -> Bool {
        guard let index = paragraphs.indices.dropFirst().last(where: { !paragraphs[$0].isExample }) else {
            return false
        }
        isComplete = false
        let isAnnouncement = paragraphs[index].lines.last?.hasSuffix(":") == true
        paragraphs.remove(at: index)
        if isAnnouncement, paragraphs.indices.contains(index), paragraphs[index].isExample {
            paragraphs.remove(at: index)
        }
        return true
    }
}
