import Foundation

extension TranscriptRunner {
    private static let schema = try? JSONSchema(
        contentsOf: Fixtures.root.appending(path: "docs/smime-report.schema.json")
    )

    /// The violations of the schema by the report that `smime` made for `arguments`; nil if there are none, or if no report
    /// was requested.
    static func complaintOfReport(_ result: CommandResult, _ arguments: [String]) -> String? {
        let words = arguments.prefix { $0 != "--" }
        guard words.contains("--json"), !words.contains("--help") else { return nil }
        let verbs = verbs(in: words)
        // A filter that delivers writes mail to standard output, or nothing.
        guard verbs.first != "filter" || words.contains("--dry-run") else { return nil }
        guard let schema else { return "the schema cannot be read" }
        let names = [verbs.prefix(2).joined(separator: "-"), verbs.first ?? ""].filter(schema.names.contains)
        return schema.validationError(for: result.standardOutput, names.prefix(1) + ["failure"])
    }

    /// The words other than options and the values of common options.
    private static func verbs(in words: ArraySlice<String>) -> [String] {
        var (rest, verbs) = (words, [String]())
        while let word = rest.popFirst() {
            if ["--home", "--color"].contains(word) { rest = rest.dropFirst() }
            if !word.hasPrefix("-") { verbs.append(word) }
        }
        return verbs
    }
}
