import Foundation
import TestSupport
import Testing

/// A program of the repository that tests the built command in its own environment. Status 77 means that its requirements
/// are missing.
struct TestProgram {
    private let path: String
    private let timeLimit: Duration

    /// - Parameter path: relative to the package's folder.
    init(_ path: String, seconds: Int) {
        self.path = path
        timeLimit = .seconds(seconds)
    }

    /// Runs the program with the command, the folder of certificates and `words`. Any status but 0 and 77 is an issue.
    func run(_ words: String...) async throws {
        var runner = CommandRunner(Fixtures.root.appending(path: path).path)
        runner.timeLimit = timeLimit
        let result = try await BlockingWork.run { [runner] in
            try runner.run([try Tool.smime().path, Fixtures.certs.path] + words)
        }
        if result.status == 77 { return print("note: \(result.errorText.prefix(200)); \(path) is skipped") }
        print(result.text)
        #expect(result.status == 0, "\(path): \(result.errorText)")
    }
}
