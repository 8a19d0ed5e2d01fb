import CMS
import Foundation
import TestSupport
import Testing

/// The table of problem codes, and the page of the manual that shows it.
@Suite struct ProblemTableTests {
    private static let page = Fixtures.root.appending(path: "docs/problems.md")

    /// The page as the table wants it.
    private static var expected: String {
        let rows = ProblemCode.allCases.map { code in
            let cells = [code.rawValue, code.level.rawValue, code.meaning, code.advice]
            return "| \(cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |\n"
        }
        return """
            # Problem codes

            Reports name every problem by a code. A code never changes its meaning, so programs may test it; the text beside it is for people
            and may change. An `error` makes the axis or the message fail that it belongs to; a `warning` changes no verdict and no exit status.
            Where an error spoils nothing it stands as a warning: an expired certificate is still imported, to read the mail of its time.
            `smime explain CODE` says the same, `smime explain --json` all of it. RECORD_TRANSCRIPTS=1 scripts/test writes this page anew.

            | code | level | what it means | what to do |
            | --- | --- | --- | --- |

            """ + rows.joined()
    }

    @Test func `the manual has the table`() throws {
        if ProcessInfo.processInfo.environment["RECORD_TRANSCRIPTS"] != nil {
            try Data(Self.expected.utf8).write(to: Self.page)
            Issue.record("recorded docs/problems.md")
        }
        #expect(try String(contentsOf: Self.page, encoding: .utf8) == Self.expected)
    }

    @Test(arguments: ProblemCode.allCases)
    func `a code is in kebab-case, and its texts are single sentences`(code: ProblemCode) {
        #expect(code.rawValue.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil)
        for text in [code.meaning, code.advice] {
            #expect(!text.isEmpty && !text.hasSuffix(".") && !text.contains("\n"))
        }
    }

    @Test func `the codes are in order`() {
        let names = ProblemCode.allCases.map(\.rawValue)
        #expect(names == names.sorted())
    }
}
