import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// The entity inside a signature or an encryption is read as strictly as a message, and nothing in it is lost or added.
@Suite struct InnerEntityTests {
    private static let fields = "From: alice@example.com\r\nTo: bob@example.com\r\nSubject: the plan\r\n"
    private let keys: Keyring

    init() throws { keys = try Keyring(people: ["bob"]) }

    private func signed(_ entity: String, attached: Bool) throws -> String {
        let openssl = try OpenSSLCommand()
        try Data(entity.utf8).write(to: openssl.folder.appending(path: "entity"))
        let certs = Fixtures.certs.path
        let form = attached ? ["-nodetach"] : []
        let result = try CommandRunner("openssl", folder: openssl.folder).run(
            [
                "cms", "-sign", "-binary", "-in", "entity", "-signer", "\(certs)/alice/cert.pem", "-inkey",
                "\(certs)/alice/key.pem", "-certfile", "\(certs)/ca/intermediate.pem",
            ] + form
        )
        try #require(result.status == 0, "\(result.errorText)")
        return Self.fields + result.text
    }

    private func encrypted(_ mail: String, _ policy: HeaderPolicy = .unprotected) throws -> [UInt8] {
        let sink = MemorySink()
        try MessageProtector(MemorySource(Array(mail.utf8)), headers: policy)
            .encrypt(
                to: [Recipient(unchecked: TestIdentity("bob").certificate)],
                cipher: .aes256GCM,
                at: .judged,
                to: sink
            )
        return sink.bytes
    }

    private func decrypted(_ mail: [UInt8]) async throws -> (report: VerificationReport, text: String) {
        let opened = try await MessageOpener(keys, at: .judged).decrypt(MemorySource(mail))
        let sink = MemorySink()
        try opened.write(to: sink)
        return (opened.report, String(decoding: sink.bytes, as: UTF8.self))
    }

    @Test(arguments: [
        "Content-Type: multipart/mixed; boundary=a; boundary=b\r\n\r\n--a\r\n\r\none\r\n--a--\r\n",
        "Content-Type: text/plain\r\njunk\r\nContent-Type: text/html\r\n\r\nhello\r\n",
        "Content-Type: text/plain\rContent-Type: text/html\r\n\r\nhello\r\n",
        "Content-Type: multipart/mixed; boundary=a\r\nContent-Transfer-Encoding: base64\r\n\r\n--a\r\n\r\none\r\n--a--\r\n",
        "Content-Type: multipart/mixed\r\n\r\n--a\r\n\r\none\r\n--a--\r\n",
        "MIME-Version: 1.0\r\njunk\r\nContent-Type: text/html\r\n\r\nhello\r\n",
        "X: a\rContent-Type: text/html\r\n\r\nhello\r\n",
    ])
    func `what programs read differently is never valid, whatever the form of the signature`(entity: String)
        async throws
    {
        for attached in [false, true] {
            let mail = MemorySource(Array(try signed(entity, attached: attached).utf8))
            let report = try await MessageOpener(keys, at: .judged).verify(mail).report
            #expect(report.status == .malformed, "\(attached)")
            // It is not encrypted either: no program could open it.
            #expect(throws: MessageError.self, "\(attached)") { try encrypted(signed(entity, attached: attached)) }
        }
    }

    @Test func `lines after a line that is no field do not become fields of the decrypted message`() async throws {
        let openssl = try OpenSSLCommand()
        let entity = "Content-Type: text/plain\r\njunk line\r\nFrom: bob@example.com\r\n\r\nbody\r\n"
        try Data(entity.utf8).write(to: openssl.folder.appending(path: "entity"))
        let result = try CommandRunner("openssl", folder: openssl.folder).run(
            ["cms", "-encrypt", "-binary", "-aes-256-cbc", "-in", "entity", Fixtures.certs.path + "/bob/cert.pem"]
        )
        try #require(result.status == 0, "\(result.errorText)")
        let text = try await decrypted(Array((Self.fields + result.text).utf8)).text.replacing("\r\n", with: "\n")
        #expect(text.contains("Content-Type: text/plain\n\njunk line\nFrom: bob@example.com\n"))
    }

    @Test(arguments: ["clear", "cipher"])
    func `a left-over mark of header protection does not remove the header`(scheme: String) async throws {
        let rest = "MIME-Version: 1.0\r\nContent-Type: text/plain"
        let mail = Self.fields + rest + "; hp=\"\(scheme)\"\r\n\r\nhello\r\n"
        #expect(try await decrypted(encrypted(mail)).text == Self.fields + rest + "\r\n\r\nhello\r\n")
        // Another program may leave the mark inside.
        let openssl = try OpenSSLCommand()
        let entity = "Content-Type: text/plain; hp=\"\(scheme)\"\r\n\r\nhello\r\n"
        try Data(entity.utf8).write(to: openssl.folder.appending(path: "entity"))
        let result = try CommandRunner("openssl", folder: openssl.folder).run(
            ["cms", "-encrypt", "-binary", "-aes-256-cbc", "-in", "entity", Fixtures.certs.path + "/bob/cert.pem"]
        )
        let text = try await decrypted(Array((Self.fields + result.text).utf8)).text
        #expect(text.contains("From: alice@example.com"))
    }

    @Test func `a signature outside the encryption names no verified author`() async throws {
        let alice = try TestIdentity("alice").identityWithChain
        let bob = try TestIdentity("bob").identityWithChain
        let root = try Certificate(fixture: "ca/root.pem")
        let mail = try Message(Array((Self.fields + "\r\nhello\r\n").utf8))
        let sealed = try mail.encrypted(to: [Recipient(bob.certificate, at: .judged)])
        let outside = try Message(try await Message(try await sealed.bytes()).signed(by: alice, at: .judged).bytes())
        let opened = try await outside.opened(with: Keyring(bob, trusting: root), at: .judged)
        #expect(opened.report.status == .valid && opened.verifiedAuthor == nil)
        let both = try mail.signed(by: alice, at: .judged).encrypted(to: [Recipient(bob.certificate, at: .judged)])
        let inside = try Message(try await both.bytes())
        let proven = try await inside.opened(with: Keyring(bob, trusting: root), at: .judged)
        #expect(proven.verifiedAuthor?.text == "alice@example.com")
    }
}
