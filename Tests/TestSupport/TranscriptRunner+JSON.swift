import Foundation

extension TranscriptRunner {
    private static let schema = try? JSONSchema(
        contentsOf: Fixtures.root.appending(path: "docs/smime-report.schema.json")
    )

    /// What is wrong with the report that `smime` made for `arguments` by the schema of all reports; nil if nothing is, or
    /// none was asked for.
    static func complaintOfReport(_ result: CommandResult, _ arguments: [String]) -> String? {
        var words = arguments.prefix { $0 != "--" }
        guard words.contains("--json"), !words.contains("--help") else { return nil }
        while let option = words.first, option.hasPrefix("-") {
            words = words.dropFirst(["--home", "--color"].contains(option) ? 2 : 1)
        }
        // A filter that delivers has mail on standard output, or nothing.
        guard words.first != "filter" || words.contains("--dry-run") else { return nil }
        guard let schema else { return "the schema cannot be read" }
        let verbs = words.prefix(2).joined(separator: "-")
        let names = [verbs, words.first ?? ""].filter(schema.names.contains)
        return schema.complaint(about: result.standardOutput, names.prefix(1) + ["failure"])
    }
}
