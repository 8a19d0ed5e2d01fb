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

    @Test func `a valid mail tells of its author, the chain and the capabilities`() async throws {
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
    func `a mail that somebody else is the author of tells nothing`(_ from: String) async throws {
        let mail = Self.mail("alice").replacing("From: alice", with: from)
        #expect(try await verified(mail, by: SignedDataWriter.Signer(person: "alice")) == nil)
    }

    @Test(arguments: ["mallory", "expired", "wrong-eku", "no-email"])
    func `an untrusted, expired or unfit signer tells nothing`(_ name: String) async throws {
        #expect(try await verified(Self.mail(name), by: SignedDataWriter.Signer(person: name)) == nil)
    }

    @Test func `a signature over a part tells nothing`() async throws {
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

    @Test func `a pinned signer is told apart from one with a chain, and brings no authorities`() async throws {
        var keyring = try Keyring(people: [])
        keyring.trust.pinned = [try certificate("mallory/cert.pem").publicKeyDigest]
        let mail = Self.mail("alice")
        let message = try #require(try await verified(mail, by: SignedDataWriter.Signer(person: "mallory"), keyring))
        #expect(!message.isAnchored)
        #expect(message.authorities.isEmpty)
    }

    @Test func `the certificate that the author prefers comes with it`() async throws {
        var signer = try SignedDataWriter.Signer(person: "split")
        signer.identity.encryptionCertificate = try certificate("split/encrypt-cert.pem")
        let message = try #require(try await verified(Self.mail("split"), by: signer))
        #expect(message.encryptionCertificate == signer.identity.encryptionCertificate)
    }

    @Test(arguments: ["bob/cert.pem", "mallory/cert.pem", "alice-old/cert.pem", "ca/root.pem"])
    func `a preferred certificate that is foreign, untrusted or no longer valid is passed over`(
        _ name: String
    ) async throws {
        var signer = try SignedDataWriter.Signer(person: "alice")
        signer.identity.encryptionCertificate = try certificate(name)
        let message = try #require(try await verified(Self.mail("alice"), by: signer))
        #expect(message.encryptionCertificate == nil)
    }

    @Test func `certificates that merely ride along are not looked at`() async throws {
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
