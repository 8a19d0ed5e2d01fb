import ByteStreams
import CMSSyntax
import Foundation
import SMIME
import SMIMEAgent
import SMIMEStore
import TestSupport
import Testing

/// The example of docs/library.md for mail of which nothing is known, compiled and run.
@Suite struct OpeningExampleTests {
    @Test func `the example for mail of which nothing is known works`() async throws {
        let office = try await Office()
        let folder = FileManager.default.temporaryDirectory.appending(path: "smime-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = "From: alice@example.com\nTo: alice@example.com\n\nGood morning\n"
        let secret = MemorySink()
        try MessageProtector(MemorySource(Array(text.utf8)))
            .encrypt(
                to: [Recipient(unchecked: Office.certificate("alice/cert.pem"))],
                cipher: .aes256GCM,
                at: Office.time,
                to: secret
            )
        for (mail, layers) in [(Array(text.utf8), 0), (secret.bytes, 1)] {
            let path = folder.appending(path: "\(layers).eml").path
            let report = try await open(MemorySource(mail), with: office.store, into: path)
            #expect(report.layers.count == layers)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
    }

    @Test func `the first example in docs/library.md is the one that is compiled here`() throws {
        let page = try String(contentsOf: Fixtures.root.appending(path: "docs/library.md"), encoding: .utf8)
        let example = try #require(page.components(separatedBy: "```swift\n").dropFirst().first)
        let wanted = try #require(example.components(separatedBy: "```").first)
        #expect(try String(contentsOf: URL(filePath: #filePath), encoding: .utf8).contains(wanted))
    }
}

/// Writes what a mail says into a file that appears once all of it was checked, and returns the verdict.
func open(_ mail: any ByteSource, with store: Store, into path: String) async throws -> VerificationReport {
    let opener = MessageOpener(StoreKeyProvider(store), at: .now)
    let output = try OutputFile(path: path, isPrivate: true)
    var report = try await opener.verify(mail).report
    if report.layers.contains(where: { $0.kind.isEncryption }) {
        let opened = try await opener.decrypt(mail)
        try opened.write(to: output)
        report = opened.report
    } else {
        try mail.reader().copy(to: output)
    }
    try output.commit()
    return report
}
