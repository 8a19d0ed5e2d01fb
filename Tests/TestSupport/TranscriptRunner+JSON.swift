import Foundation

extension TranscriptRunner {
    private static let schema = try? JSONSchema(
        contentsOf: Fixtures.root.appending(path: "docs/smime-report.schema.json")
    )

    /// What is wrong with the report that `smime` made for `arguments` by the schema of all reports; nil if nothing is, or
    /// none was asked for.
    static func complaintOfReport(_ result: CommandResult, _ arguments: [String]) -> String? {
        let words = arguments.prefix { $0 != "--" }
        guard words.contains("--json"), !words.contains("--help") else { return nil }
        let verbs = verbs(in: words)
        // A filter that delivers has mail on standard output, or nothing.
        guard verbs.first != "filter" || words.contains("--dry-run") else { return nil }
        guard let schema else { return "the schema cannot be read" }
        let names = [verbs.prefix(2).joined(separator: "-"), verbs.first ?? ""].filter(schema.names.contains)
        return schema.complaint(about: result.standardOutput, names.prefix(1) + ["failure"])
    }

    /// The words that are neither options nor the values of those that every verb has.
    private static func verbs(in words: ArraySlice<String>) -> [String] {
        var (rest, verbs) = (words, [String]())
        while let word = rest.popFirst() {
            if ["--home", "--color"].contains(word) { rest = rest.dropFirst() }
            if !word.hasPrefix("-") { verbs.append(word) }
        }
        return verbs
    }
}
