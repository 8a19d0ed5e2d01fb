import CMS
import Foundation
import MIME
import SMIME
import Streams
import TestSupport
import Testing

/// What would make a message that nobody can open or believe, or that tells too much, is not written.
@Suite struct ProtectorRefusalTests {
    private static let time = Date(timeIntervalSince1970: 1_790_000_000)
    private static let mail = "From: alice@example.com\nTo: bob@example.com\nBcc: carol@example.com\n\nhello\n"

    private func protector(omitting names: Set<String>? = nil) throws -> MessageProtector {
        let source = MemorySource(Array(Self.mail.utf8))
        return try names.map { try MessageProtector(source, omitting: $0) } ?? MessageProtector(source)
    }

    @Test func `nothing is encrypted to nobody`() throws {
        let sink = MemorySink()
        #expect(throws: CMSError.unsupported("encryption to nobody")) {
            try protector().encrypt(to: [], cipher: .aes256GCM, at: Self.time, to: sink)
        }
        #expect(sink.bytes.isEmpty)
    }

    @Test func `nothing is signed with somebody else's key`() throws {
        let (alice, bob) = (try Keyring.signer("alice"), try Keyring.signer("bob"))
        let mixed = SignedDataWriter.Signer(key: bob.key, certificate: alice.certificate)
        #expect(throws: CMSError.unsupported("signing with a key that is not the certificate's")) {
            try protector().sign(by: mixed, as: .detached, at: Self.time, to: MemorySink())
        }
    }

    @Test(arguments: [Date.distantPast, Date(timeIntervalSince1970: 1e12), Date(timeIntervalSince1970: .infinity)])
    func `nothing is signed at a time that no signature can hold`(time: Date) throws {
        let signer = try Keyring.signer("alice")
        #expect(throws: CMSError.unsupported("a signing time that is no date of the years 1000 to 9999")) {
            try protector().sign(by: signer, as: .detached, at: time, to: MemorySink())
        }
    }

    @Test func `Bcc stays in only if somebody wants it to`() throws {
        let signer = try Keyring.signer("alice")
        let (without, with) = (MemorySink(), MemorySink())
        try protector().sign(by: signer, as: .detached, at: Self.time, to: without)
        try protector(omitting: []).sign(by: signer, as: .detached, at: Self.time, to: with)
        #expect(!String(decoding: without.bytes, as: UTF8.self).contains("carol"))
        #expect(String(decoding: with.bytes, as: UTF8.self).contains("Bcc: carol@example.com"))
    }

    @Test(arguments: [
        "From: a@example.com\rTo: b@example.com\r\rsecret", "Received: x\r\nFrom: a@example.com\r\rsecret",
    ])
    func `text that many readers take for the body is not left in the header`(mail: String) {
        #expect(throws: SMIMEError.defective(.bareCR)) { try MessageProtector(MemorySource(Array(mail.utf8))) }
    }

    @Test func `a certificate that stands twice is encrypted to once`() throws {
        let certificate = try #require(try Keyring("bob").identities.first).certificate
        let parties = ["bob", "BOB"].map {
            CipherNegotiation.Party(name: $0, certificate: certificate, capabilities: nil)
        }
        let negotiated = try CipherNegotiation(for: parties, CipherNegotiation.Preferences())
        #expect(negotiated.verdicts.count == 2 && negotiated.recipients.count == 1)
    }

    @Test func `a task that was cancelled opens nothing`() async throws {
        let sink = MemorySink()
        let bob = try #require(try Keyring("bob").identities.first).certificate
        try protector().encrypt(to: [Recipient(bob)], cipher: .aes256GCM, at: Self.time, to: sink)
        let opener = MessageOpener(try Keyring("bob"), at: Self.time)
        let source = MemorySource(sink.bytes)
        #expect(try await opener.decrypt(source).report.layers.count == 1)
        let opening = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await opener.decrypt(source).report
        }
        await #expect(throws: CancellationError.self) { _ = try await opening.value }
    }
}
