import Foundation
import TestSupport
import Testing

/// A program of the repository that tests the built command in surroundings of its own; status 77 says that these are not here.
struct TestProgram {
    private let path: String
    private let timeLimit: Duration

    /// - Parameter path: from the folder of the package.
    init(_ path: String, seconds: Int) {
        self.path = path
        timeLimit = .seconds(seconds)
    }

    /// Runs it with the command, the folder of certificates and `words`; anything but success and 77 is an issue.
    func run(_ words: String...) throws {
        var runner = CommandRunner(Fixtures.root.appending(path: path).path)
        runner.timeLimit = timeLimit
        let result = try runner.run([try Tool.smime().path, Fixtures.certs.path] + words)
        if result.status == 77 { return print("note: \(result.errorText.prefix(200)); \(path) is skipped") }
        print(result.text)
        #expect(result.status == 0, "\(path): \(result.errorText)")
    }
}
