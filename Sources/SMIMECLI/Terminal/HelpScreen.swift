/// The help of a verb, made of the parser's text: `--help` shows what most users need on one screen, `--help-all` shows all,
/// with the rare options in a section of their own.
package struct HelpScreen {
    /// The option that shows the full help.
    static let allOption = "--help-all"
    /// The number of lines above which `--help` leaves out paragraphs.
    private static let lineLimit = 40
    /// The column in which the parser begins explanations.
    private static let explanationColumn = 26
    private static let optionsTitle: Substring = "OPTIONS:"
    /// What the parser writes before the possible values of an option.
    private static let valuesStart = "(values:"
    /// The end of the parser's title for a group of verbs.
    private static let groupEnd = " SUBCOMMANDS:"
    /// The options that only `--help-all` shows, unless an example uses them.
    package static let rare: Set<String> = [
        "--accept-sender", "--accept-weak", "--ca-profile", "--canonical", "--color", "--compat", "--compress",
        "--crlf", "--digest", "--dn", "--explicit-policy", "--home", "--host-settings", "--inform", "--jobs",
        "--legacy-display", "--lf", "--login", "--new-password-env", "--new-password-fd", "--no-chain",
        "--no-header-protection", "--no-system-anchors", "--on-change", "--online", "--opaque", "--outform",
        "--output-dir", "--password-env", "--password-fd", "--policy", "--revocation", "--secret-key-file",
        "--secret-key-id", "--store", "--store-key-command", "--store-key-file", "--store-password-env",
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
    /// Whether this is the overview of all verbs, in which each group of verbs has a title.
    private let isOverview: Bool

    /// What `--help` shows of `text`, the parser's help; any other text is returned unchanged.
    static func shortened(_ text: String) -> String {
        guard var screen = HelpScreen(text) else { return text }
        // The overview has no room for the few options that every verb has.
        guard !screen.isOverview else { return screen.withoutOptions.text }
        screen.shortenUsage()
        let all = screen.sections
        // A paragraph that is removed may be an example, whose options are then left out as well.
        repeat {
            screen.sections = all
            screen.dropRareOptions()
        } while screen.lineCount > lineLimit && screen.dropParagraph()
        return screen.text
    }

    /// What `--help-all` shows of `text`, the parser's help with hidden options; any other text is returned unchanged.
    static func complete(_ text: String) -> String {
        guard var screen = HelpScreen(text) else { return text }
        screen.separateRareOptions()
        return screen.text
    }

    private init?(_ text: String) {
        guard text.hasPrefix("OVERVIEW: ") else { return nil }
        let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
            .split(omittingEmptySubsequences: true) { $0.isEmpty }.map { Array($0) }
        let first = parts.firstIndex { $0.first?.hasPrefix("USAGE: ") == true } ?? parts.endIndex
        paragraphs = parts[..<first].map { Paragraph(lines: $0) }
        isOverview = parts[first...].contains { $0.first?.hasSuffix(Self.groupEnd) == true }
        sections = parts[first...].map { Self.withoutRepeatedValues(Self.withoutGroupEnd($0)) }
    }

    /// `section` without the word that the parser adds to the name of a group of verbs.
    private static func withoutGroupEnd(_ section: [Substring]) -> [Substring] {
        guard let title = section.first, title.hasSuffix(groupEnd) else { return section }
        return [title.dropLast(groupEnd.count) + ":"] + section.dropFirst()
    }

    /// `section` without the possible values that the parser adds to an explanation that names them all.
    private static func withoutRepeatedValues(_ section: [Substring]) -> [Substring] {
        var lines: [Substring] = []
        var start = 0
        for line in section {
            if !line.hasPrefix("   ") { start = lines.count }
            lines.append(line)
            guard line.hasSuffix(")"), let row = lines[start...].lastIndex(where: { $0.contains(valuesStart) }),
                let mark = lines[row].firstRange(of: valuesStart)
            else { continue }
            let before = lines[row][..<mark.lowerBound]
            let explained = lines[start..<row].flatMap(words) + words(before)
            let values = ([lines[row][mark.upperBound...]] + lines[(row + 1)...]).joined(separator: " ")
            // The parser adds the default value after a semicolon. The explanation does not name it, so it is kept.
            guard !values.contains(";"), Set(explained).isSuperset(of: words(values[...])) else { continue }
            lines.removeSubrange(row...)
            if !before.allSatisfy({ $0 == " " }) { lines.append(before.dropLast()) }
        }
        return lines
    }

    /// The words in `text`, which may contain hyphens.
    private static func words(_ text: Substring) -> [Substring] {
        text.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
    }

    private var lineCount: Int { text.count { $0 == "\n" } + 1 }

    private var text: String {
        var parts = (paragraphs.map(\.lines) + sections).map { $0.joined(separator: "\n") }
        if !isComplete, let options = parts.lastIndex(where: { $0.contains("\n  -h, --help ") }) {
            parts[options] += "\n  \(Self.allOption)              Show all options and explanations."
        }
        return parts.joined(separator: "\n\n")
    }
}

extension HelpScreen {
    /// The options that the examples use.
    private var usedOptions: Set<String> {
        let lines = paragraphs.filter(\.isExample).flatMap(\.lines)
        return Set(lines.flatMap { $0.matches(of: /--[a-z-]+/).map { String($0.output) } })
    }

    /// The lines of `section` about common options, and those about rare ones. The title is in the first part.
    private func divided(_ section: [Substring]) -> (common: [Substring], rare: [Substring]) {
        let names = Self.rare.subtracting(usedOptions)
        var (common, rare): ([Substring], [Substring]) = ([], [])
        var isRare = false
        for line in section {
            if line.hasPrefix("  -") {
                // The explanation after the option names may mention other options, so only the names' columns are
                // searched.
                let found = line.prefix(Self.explanationColumn).matches(of: /--[a-z-]+/)
                isRare = found.contains { names.contains(String($0.output)) }
            }
            if isRare { rare.append(line) } else { common.append(line) }
        }
        return (common, rare)
    }

    /// The screen without options, and without the sentence about the help of verbs, for which there is an example.
    private var withoutOptions: HelpScreen {
        var screen = self
        screen.sections.removeAll { $0.first == Self.optionsTitle || $0.first?.hasPrefix("  See 'smime help") == true }
        return screen
    }

    private mutating func dropRareOptions() {
        for index in sections.indices where sections[index].count > 1 {
            let (common, rare) = divided(sections[index])
            isComplete = isComplete && rare.isEmpty
            sections[index] = common
        }
        sections.removeAll { $0.count == 1 && $0.first?.hasSuffix(":") == true }
    }

    private mutating func separateRareOptions() {
        guard let index = sections.firstIndex(where: { $0.first == Self.optionsTitle }) else { return }
        let (common, rare) = divided(sections[index])
        guard !rare.isEmpty else { return }
        sections[index] = common
        sections.insert(["MORE OPTIONS:"] + rare, at: index + 1)
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

/// What the help of a verb says about one of its options.
package struct HelpEntry {
    /// The entry in one line, with the option's names before the explanation.
    private let text: String
    /// Whether the option has a value.
    package let hasValue: Bool

    /// - Parameters:
    ///   - name: the long name of the option, with the dashes before it.
    ///   - help: the help of the verb.
    package init?(of name: String, in help: String) {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("  -") && Self.longName($0) == name }) else {
            return nil
        }
        hasValue = lines[start].contains("\(name) <")
        let rest = lines[(start + 1)...].prefix { $0.hasPrefix("   ") }
        text = ([lines[start]] + rest).flatMap { $0.split(separator: " ") }.joined(separator: " ")
    }

    /// The long name in the first line of an entry, such as `-o, --output <file>`.
    private static func longName(_ line: Substring) -> String? {
        line.split(separator: " ").prefix(2).first { $0.hasPrefix("--") }.map(String.init)
    }

    /// Whether the option may be given more than once.
    package var mayBeRepeated: Bool { text.contains("may be repeated") }
}
