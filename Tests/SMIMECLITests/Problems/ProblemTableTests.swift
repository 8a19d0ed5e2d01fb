import Foundation
import PKIX
import TestSupport
import Testing

/// The problem codes and docs/problems.md, which lists them, agree.
@Suite struct ProblemTableTests {
    private static let page = Fixtures.root.appending(path: "docs/problems.md")

    /// The output of `smime explain --json`.
    private struct Listing: Decodable {
        struct Row: Decodable {
            let code: String
            let levels: [String]
            let meaning: String
            let advice: String
        }
        let problems: [Row]
    }

    /// All codes, as the command prints them.
    private static func rows() throws -> [Listing.Row] {
        let result = try CommandRunner(Tool.smime().path).run(["explain", "--json"])
        return try JSONDecoder().decode(Listing.self, from: Data(result.standardOutput)).problems
    }

    /// The page as generated from the table.
    private static func expected() throws -> String {
        let rows = try rows().map { row in
            let levels = Self.sentence(row.levels.joined(separator: " or "))
            return "## \(row.code)\n\n\(levels) \(Self.sentence(row.meaning))\n\n\(Self.sentence(row.advice))\n\n"
        }
        return """
            # Problem codes

            Reports name every problem by a code. The meaning of a code never changes, so programs may test codes. The text of a problem is for people and may
            change. An error makes the verdict on the message fail, or one of its five axes: integrity, chain, identity, revocation, time. A warning changes no
            verdict and no exit status. A problem is only a warning where it does no harm: an expired certificate, for example, can still be imported, to read old
            mail.

            `smime explain CODE` prints the section about a code, and `smime explain --json` prints all sections. `RECORD_TRANSCRIPTS=1 scripts/test` writes this
            page.

            A learned certificate that the store can no longer read is skipped, with a warning that names the address. An unreadable fetched revocation list is
            also skipped, with the warning `crl-unreadable`; revocation is then unknown. `smime store check` finds all unreadable data, and
            `smime store check --repair` removes it.


            """ + rows.joined().dropLast()
    }

    /// The text as a sentence: with a capital letter, unless the first word is a name, and a full stop.
    private static func sentence(_ text: String) -> String {
        let first = text.prefix { $0 != " " }
        let isName = first != first.lowercased() || ["libcrypto", "smime", "smime-type"].contains(String(first))
        return (isName ? text : text.prefix(1).uppercased() + text.dropFirst()) + "."
    }

    @Test func `docs/problems.md has the table of problem codes`() throws {
        let expected = try Self.expected()
        if ProcessInfo.processInfo.environment["RECORD_TRANSCRIPTS"] != nil {
            try Data(expected.utf8).write(to: Self.page)
            Issue.record("recorded docs/problems.md")
        }
        #expect(try String(contentsOf: Self.page, encoding: .utf8) == expected)
    }

    @Test(arguments: ProblemCode.allCases)
    func `problem codes are in kebab-case, and their texts are single sentences`(code: ProblemCode) {
        #expect(code.rawValue.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil)
        for text in [code.meaning, code.advice] {
            #expect(!text.isEmpty && !text.hasSuffix(".") && !text.contains("\n"))
        }
    }

    @Test(arguments: ProblemCode.allCases)
    func `problem texts of the library name no command and no option`(code: ProblemCode) {
        for text in [code.meaning, code.advice] {
            #expect(!text.contains("smime ") && !text.contains("--"))
        }
    }

    @Test func `problem texts of the command differ from the library's only by commands`() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.code) == ProblemCode.allCases.map(\.rawValue))
        #expect(rows.map(\.meaning) == ProblemCode.allCases.map(\.meaning))
        for (row, code) in zip(rows, ProblemCode.allCases) where row.advice != code.advice {
            #expect(row.advice.contains("smime ") || row.advice.contains("--"))
        }
    }

    @Test func `problem codes are in alphabetical order`() {
        let names = ProblemCode.allCases.map(\.rawValue)
        #expect(names == names.sorted())
    }
}
