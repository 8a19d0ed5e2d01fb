import Foundation
import TestSupport
import Testing

/// What the other programs that are here read of ours, and we of theirs: one algorithm of each family, compared with
/// docs/interop.md where a program has the version of the page. `scripts/make-interop` tries all of them.
@Suite struct InteropMatrixTests {
    @Test func `mail is exchanged with other programs in both directions`() throws {
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_TEST_BINARY"] = try Tool.smime().path
        var runner = CommandRunner(
            Fixtures.root.appending(path: "scripts/make-interop").path,
            environment: environment
        )
        runner.timeLimit = .seconds(600)
        let result = try runner.run(["--check", "--small"])
        for line in result.errorText.split(separator: "\n") where line.hasSuffix("not tried") { print("note: \(line)") }
        print(result.text)
        #expect(result.status == 0, "\(result.errorText)")
    }
}
