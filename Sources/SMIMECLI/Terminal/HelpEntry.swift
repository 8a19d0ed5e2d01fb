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
