import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

@Suite struct VerifiedMessageTests {
    private static let time = Date(timeIntervalSince1970: 1_793_491_200)

    @Test func `from a valid mail the author, the chain and the capabilities are learned`() async throws {
        let message = try #require(try await verified(Self.mail("alice"), by: SignedDataWriter.Signer(person: "alice")))
        #expect(message.author == (try EmailAddress("alice@example.com")))
        #expect(message.signerCertificate == (try certificate("alice/cert.pem")))
        #expect(message.encryptionCertificate == nil)
        #expect(message.authorities == [try certificate("ca/intermediate.pem")])
        #expect(message.isAnchored)
        #expect(message.capabilities != nil)
        #expect(message.signingTime == Self.time)
        #expect(message.messageID == "<1@example.com>")
    }

    @Test(arguments: ["Sender: alice@example.com\r\nFrom: bob", "From: bob"])
    func `nothing is learned from a mail whose author is not the signer`(_ from: String) async throws {
        let mail = Self.mail("alice").replacing("From: alice", with: from)
        #expect(try await verified(mail, by: SignedDataWriter.Signer(person: "alice")) == nil)
    }

    @Test(arguments: ["mallory", "expired", "wrong-eku", "no-email"])
    func `nothing is learned from an untrusted, expired or unsuitable signer`(_ name: String) async throws {
        #expect(try await verified(Self.mail(name), by: SignedDataWriter.Signer(person: name)) == nil)
    }

    @Test func `nothing is learned from a signature over a part`() async throws {
        let inner = String(
            decoding: try signed(Self.mail("alice"), by: SignedDataWriter.Signer(person: "alice")),
            as: UTF8.self
        )
        let mail = "From: alice@example.com\r\nContent-Type: message/rfc822\r\n\r\n" + inner
        let opener = MessageOpener(try Keyring(people: []), at: Self.time)
        let result = try await opener.verify(MemorySource(Array(mail.utf8)))
        #expect(result.report.status == .partial)
        #expect(result.learnable == nil)
    }

    @Test func `a pinned signer is learned as pinned, without authorities`() async throws {
        var keyring = try Keyring(people: [])
        keyring.trust.pinned = [try certificate("mallory/cert.pem").publicKeyDigest]
        let mail = Self.mail("alice")
        let message = try #require(try await verified(mail, by: SignedDataWriter.Signer(person: "mallory"), keyring))
        #expect(!message.isAnchored)
        #expect(message.authorities.isEmpty)
    }

    @Test func `the encryption certificate that the author prefers is learned, too`() async throws {
        var signer = try SignedDataWriter.Signer(person: "split")
        signer.identity.encryptionCertificate = try certificate("split/encrypt-cert.pem")
        let message = try #require(try await verified(Self.mail("split"), by: signer))
        #expect(message.encryptionCertificate == signer.identity.encryptionCertificate)
    }

    @Test(arguments: ["bob/cert.pem", "mallory/cert.pem", "alice-old/cert.pem", "ca/root.pem"])
    func `a preferred certificate that is untrusted, expired or of another person is ignored`(
        _ name: String
    ) async throws {
        var signer = try SignedDataWriter.Signer(person: "alice")
        signer.identity.encryptionCertificate = try certificate(name)
        let message = try #require(try await verified(Self.mail("alice"), by: signer))
        #expect(message.encryptionCertificate == nil)
    }

    @Test func `other certificates in a message are ignored`() async throws {
        var signer = try SignedDataWriter.Signer(person: "alice")
        signer.identity.chain += try ["bob/cert.pem", "carol/cert.pem", "untrusted/root.pem"].map(certificate)
        let message = try #require(try await verified(Self.mail("alice"), by: signer))
        #expect(message.authorities == [try certificate("ca/intermediate.pem")])
        #expect(message.encryptionCertificate == nil)
    }

    private static func mail(_ name: String) -> String {
        "From: \(name)@example.com\r\nMessage-ID: <1@example.com>\r\n\r\nHello\r\n"
    }

    private func verified(
        _ mail: String,
        by signer: SignedDataWriter.Signer,
        _ keyring: Keyring? = nil
    ) async throws -> VerifiedMessage? {
        let source = MemorySource(try signed(mail, by: signer))
        return try await MessageOpener(keyring ?? Keyring(people: []), at: Self.time).verify(source).learnable
    }

    private func signed(_ mail: String, by signer: SignedDataWriter.Signer) throws -> [UInt8] {
        let sink = MemorySink()
        try MessageProtector(MemorySource(Array(mail.utf8)))
            .sign(by: signer, as: .detached, at: Self.time, to: sink)
        return sink.bytes
    }

    private func certificate(_ name: String) throws -> Certificate {
        try Certificate(fixture: name)
    }
}
