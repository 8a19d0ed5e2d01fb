import Foundation
import SMIME
import TestSupport
import Testing

/// The library example of the README, compiled with only the import it names, and run.
@Suite struct ReadmeExampleTests {
    @Test func `the example in the README works`() async throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        for (name, file) in [("bob/cert.pem", "bob.pem"), ("ca/root.pem", "root.pem")] {
            try Data(Fixtures.cert(name)).write(to: folder.appending(path: file))
        }
        let text = "From: alice@example.com\nTo: bob@example.com\nSubject: Hello\n\nGood morning\n"
        try Data(text.utf8).write(to: folder.appending(path: "mail.eml"))
        try await example(folder.path, Fixtures.certs.appending(path: "alice/alice.p12"))
        #expect(try Data(contentsOf: folder.appending(path: "plain.eml")) == Data(text.utf8))
        let secret = try Data(contentsOf: folder.appending(path: "secret.eml"))
        #expect(!String(decoding: secret, as: UTF8.self).contains("Good morning"))
    }

    @Test func `the example in the README is the compiled one`() throws {
        let readme = try String(contentsOf: Fixtures.root.appending(path: "README.md"), encoding: .utf8)
        let own = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let example = try #require(readme.split(separator: "```swift\n").last?.split(separator: "```").first)
        let compiled = own.replacing("\\(folder)/", with: "").split(separator: "\n", omittingEmptySubsequences: true)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        let wanted = example.split(separator: "\n", omittingEmptySubsequences: true)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        #expect(compiled.contains(wanted))
    }

    private struct Refused: Error {
        let problems: [Problem]

        init(_ problems: [Problem]) { self.problems = problems }
    }

    private func example(_ folder: String, _ p12: URL) async throws {
        let alice = try Identity(pkcs12: Data(contentsOf: p12), passphrase: "test")
        let bob = try Certificate(contentsOf: "\(folder)/bob.pem")
        let root = try Certificate(contentsOf: "\(folder)/root.pem")
        let mail = try Message(contentsOf: "\(folder)/mail.eml")
        try await mail.signed(by: alice).encrypted(to: bob, alice.certificate).write(to: "\(folder)/secret.eml")
        let keys = Keyring(alice, trusting: root)
        let opened = try await Message(contentsOf: "\(folder)/secret.eml").opened(with: keys)
        guard opened.report.status == .valid else { throw Refused(opened.report.allProblems) }
        try await opened.write(to: "\(folder)/plain.eml")
    }
}
