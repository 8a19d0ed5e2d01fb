import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import SMIME
import TestSupport
import Testing

/// The library example of the README, compiled and run.
@Suite struct ReadmeExampleTests {
    @Test func `the example in the README works`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "smime-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Fixtures.cert("alice/alice.p12")).write(to: folder.appending(path: "alice.p12"))
        let text = "From: alice@example.com\nTo: alice@example.com\nSubject: Hello\n\nGood morning\n"
        try Data(text.utf8).write(to: folder.appending(path: "mail.eml"))
        try example(folder.path)
        let opener = MessageOpener(try Keyring("alice"), at: Date(timeIntervalSince1970: 1_790_000_000))
        let opened = try await opener.decrypt(FileSource(path: folder.appending(path: "secret.eml").path))
        #expect(opened.report.status == .valid)
        let sink = MemorySink()
        try opened.write(to: sink)
        #expect(sink.bytes == Array(text.utf8))
    }

    @Test func `the example in the README is the one that is compiled here`() throws {
        let readme = try String(contentsOf: Fixtures.root.appending(path: "README.md"), encoding: .utf8)
        let own = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let example = try #require(readme.split(separator: "```swift\n").last?.split(separator: "```").first)
        let compiled = own.replacing("\\(folder)/", with: "").split(separator: "\n", omittingEmptySubsequences: true)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        let wanted = example.split(separator: "\n", omittingEmptySubsequences: true)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        #expect(compiled.contains(wanted))
    }

    private func example(_ folder: String) throws {
        let bytes = try Data(contentsOf: URL(filePath: "\(folder)/alice.p12"))
        let file = try PKCS12(Array(bytes), passphrase: Passphrase("test".utf8))
        let alice = file.identities[0]
        let signer = SignedDataWriter.Signer(alice)
        let recipient = Recipient(alice.certificate)

        let mail = try FileSource(path: "\(folder)/mail.eml")
        let output = try OutputFile(path: "\(folder)/secret.eml", isPrivate: false)
        try MessageProtector(mail)
            .encrypt(to: [recipient], cipher: .aes256GCM, signedBy: (signer, .detached), at: .now, to: output)
        try output.commit()
    }
}
