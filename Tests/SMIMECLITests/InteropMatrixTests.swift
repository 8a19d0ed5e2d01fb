import Foundation
import TestSupport
import Testing

/// Interoperability with the other installed programs in both directions: one algorithm of each family. The results are
/// compared with docs/interop.md if a program has the version named there. `scripts/make-interop` tries all algorithms.
@Suite struct InteropMatrixTests {
    @Test func `mail is exchanged with other programs in both directions`() async throws {
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_TEST_BINARY"] = try Tool.smime().path
        var runner = CommandRunner(
            Fixtures.root.appending(path: "scripts/make-interop").path,
            environment: environment
        )
        runner.timeLimit = .seconds(600)
        let result = try await BlockingWork.run { [runner] in try runner.run(["--check", "--small"]) }
        for line in result.errorText.split(separator: "\n") where line.hasSuffix("not tried") { print("note: \(line)") }
        print(result.text)
        #expect(result.status == 0, "\(result.errorText)")
    }
}
