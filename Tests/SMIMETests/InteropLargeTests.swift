import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// Tests as in InteropSigningTests and InteropEncryptionTests, with large mails and in a few combinations. The content of
/// the mails is beyond the 32 MiB that a CMS object may have around its content (`SignedData`, `EnvelopedLayout`), and
/// beyond everything that is kept in memory.
@Suite(.serialized) struct InteropLargeTests {
    private static let certs = Fixtures.certs.path
    private static let large = SampleMail(from: "alice", count: 34_000_000, lineEnd: .crlf)
    private static let source = Result { MemorySource(try large.bytes) }
    private let mail = Self.large

    @Test(arguments: [SignatureForm.detached, .opaque])
    func `openssl verifies a signed mail of 34 MB`(form: SignatureForm) throws {
        let signed = try [UInt8](
            written {
                try MessageProtector(Self.source.get())
                    .sign(by: SignedDataWriter.Signer(person: "alice"), as: form, at: .judged, to: $0)
            }
        )
        let options = "-CAfile \(Self.certs)/ca/root.pem -attime \(Int(Date.judged.timeIntervalSince1970))"
        let content = try OpenSSLCommand().run("cms -verify \(options)", input: signed)
        #expect(Data(content) == mail.content("clear"))
    }

    @Test(arguments: ["", "-nodetach -stream -indef"])
    func `a mail of 34 MB signed by openssl is valid`(form: String) async throws {
        let signerOptions = "-signer \(Self.certs)/alice/cert.pem -inkey \(Self.certs)/alice/key.pem"
        let signed = try OpenSSLCommand().run(
            "cms -sign \(form) \(mail.fields) \(signerOptions) -certfile \(Self.certs)/ca/intermediate.pem",
            input: mail.entity
        )
        let result = try await MessageOpener(try Keyring(people: []), at: .judged).verify(MemorySource(signed))
        #expect(result.report.status == .valid)
        let content = MemorySink()
        #expect(try result.writeContent(to: content))
        #expect(Data(content.bytes) == mail.content)
    }

    @Test(arguments: [ContentCipher.aes256GCM, .aes128CBC])
    func `encrypted mail of 34 MB is exchanged with openssl`(cipher: ContentCipher) async throws {
        let keyring = try Keyring(people: ["carol"])
        let recipient = Recipient(unchecked: try #require(keyring.identities.first).certificate)
        let encrypted = try [UInt8](
            written {
                try MessageProtector(Self.source.get())
                    .encrypt(to: [recipient], cipher: cipher, at: .judged, to: $0)
            }
        )
        let recipientOptions = "-recip \(Self.certs)/carol/cert.pem"
        let plain = try OpenSSLCommand().run(
            "cms -decrypt \(recipientOptions) -inkey \(Self.certs)/carol/key.pem",
            input: encrypted
        )
        #expect(Data(plain) == mail.content("cipher"))
        let theirs = try OpenSSLCommand().run(
            "cms -encrypt -\(cipher.name) -stream \(mail.fields) \(recipientOptions)",
            input: mail.entity
        )
        let crlf = theirs.withLines(endingIn: .crlf)
        let opened = try await MessageOpener(keyring, at: .judged).decrypt(MemorySource(crlf))
        #expect(try written { try opened.write(to: $0) } == Data(Self.source.get().bytes))
    }
}
