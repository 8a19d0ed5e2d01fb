import ArgumentParser

/// Options for verbs that print a report.
struct ReportOptions: ParsableArguments {
    @Flag(help: .json) var json = false

    /// Prints the report as JSON, or as the text that `text` returns.
    func print(_ report: some Encodable, text: () throws -> String) throws {
        if json { try Report.print(report) } else { try Console.print(text()) }
    }
}
