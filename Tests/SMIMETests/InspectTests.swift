import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

@Suite struct InspectTests {
    @Test func `inspect shows the parts, the signer and the certificates of a signed mail`() throws {
        let part = try message(signed())
        #expect(part.mediaType == "multipart/signed")
        #expect(part.parts.map(\.mediaType) == ["text/plain", "application/pkcs7-signature"])
        let outline = try #require(part.layer?.outline)
        #expect(outline.type == .signedData)
        #expect(outline.contentCount == nil)
        let signer = try #require(outline.signers.first)
        #expect(signer.digestName == "sha256")
        #expect(signer.signatureName == "rsa-pkcs1")
        #expect(signer.signingTime == Self.time)
        #expect(signer.signedAttributeTypes.contains("messageDigest"))
        #expect(signer.capabilities.first?.name == "aes-256-gcm")
        #expect(outline.certificates == [try certificate("alice")])
        #expect(part.parts[1].layer == nil)
    }

    @Test func `inspect shows the content of an opaque signature`() throws {
        let part = try message(signed(isOpaque: true))
        #expect(part.mediaType == "application/pkcs7-mime")
        guard case .part(let inner) = part.layer?.content else {
            Issue.record("nothing inside")
            return
        }
        #expect(inner.mediaType == "text/plain")
        #expect(inner.problems.isEmpty)
    }

    @Test func `inspect shows the recipients of an encrypted mail, and no content`() throws {
        let part = try message(encrypted())
        let outline = try #require(part.layer?.outline)
        #expect(outline.type == .authEnvelopedData)
        #expect(outline.algorithms == ["aes-256-gcm"])
        let alice = try certificate("alice")
        #expect(outline.recipients.map { $0.identifier?.matches(alice) } == [true])
        #expect(outline.recipients.first?.algorithm == "rsa-oaep")
        #expect(part.layer?.content == nil)
        #expect(part.parts.isEmpty)
    }

    @Test(arguments: [0.2, 0.6, 0.9, 0.99])
    func `inspect shows the rest of a truncated object and the problem`(_ share: Double) throws {
        let cms = try signedObject()
        let bytes = Array(cms.prefix(Int(Double(cms.count) * share)))
        let inspection = try inspect(bytes)
        guard case .cms(let layer) = inspection.subject else {
            Issue.record("not taken for CMS")
            return
        }
        #expect(layer.outline.type == .signedData)
        #expect(inspection.allProblems.contains { $0.level == .error })
        #expect(share < 0.9 || layer.outline.certificates.count == 1)
    }

    @Test(arguments: [30, 31, 32, 33, 34])
    func `a truncated ciphertext is a problem, and the recipients are still shown`(_ missing: Int) throws {
        let mail = try encrypted(Self.plain + [UInt8](repeating: 97, count: 1_000))
        let part = try message(Array(mail.dropLast(missing)))
        #expect(part.layer?.outline.recipients.count == 1)
        #expect(part.layer?.problems.contains { $0.level == .error } == true)
    }

    @Test func `a signature with contradictory statements is a problem`() throws {
        var text = String(decoding: try signed(isOpaque: true), as: UTF8.self)
        text = text.replacing("signed-data", with: "enveloped-data")
        #expect(try inspect(Array(text.utf8)).allProblems.map(\.code) == ["malformed"])
    }

    @Test func `an object of an unknown type is named by its number`() throws {
        let inspection = try inspect([0x30, 0x08, 0x06, 0x02, 0x2A, 0x03, 0xA0, 0x02, 0x05, 0x00])
        guard case .cms(let layer) = inspection.subject else {
            Issue.record("not taken for CMS")
            return
        }
        #expect(layer.outline.typeName == "1.2.3")
        #expect(inspection.allProblems.map(\.level) == [.warning])
    }

    @Test(arguments: [
        "", "garbage", "\u{0}\u{1}\u{2}\n\n", "0", "MIIB", "-----BEGIN CMS-----\n", "-----BEGIN X-----\nAA==",
    ])
    func `unrecognizable input is refused`(_ text: String) {
        #expect(throws: (any Error).self) { try inspect(Array(text.utf8)) }
    }

    @Test func `the depth of nested layers is limited`() throws {
        var mail = Array("Content-Type: text/plain\r\n\r\nhello\r\n".utf8)
        for _ in 0..<12 { mail = try signed(isOpaque: true, mail) }
        let codes = try inspect(mail).allProblems.filter { $0.level == .error }.map(\.code)
        #expect(codes == ["too-many-layers"])
    }

    @Test func `the depth of nested messages is limited`() throws {
        let mail = String(repeating: "Content-Type: message/rfc822\r\n\r\n", count: 1_000) + "Subject: x\r\n\r\n"
        #expect(try inspect(Array(mail.utf8)).allProblems.map(\.code) == ["too-deep"])
    }

    @Test func `a PKCS#12 file shows its outline without a password`() throws {
        guard case .pkcs12(let outline) = try inspect(Fixtures.cert("alice/alice.p12")).subject else {
            Issue.record("not taken for PKCS#12")
            return
        }
        #expect(outline.mac?.hasPrefix("HMAC-SHA256") == true)
        #expect(outline.parts.count == 2)
    }

    @Test func `text in front of a PEM certificate does not make it a mail`() throws {
        let bytes = Array("Certificate:\n    Data:\n\n".utf8) + (try Fixtures.cert("alice/cert.pem"))
        guard case .certificates(let items) = try inspect(bytes).subject,
            case .certificate(let certificate) = items.first
        else {
            Issue.record("not taken for a certificate")
            return
        }
        #expect(certificate.addresses == ["alice@example.com"])
    }

    @Test func `control characters in names and file names are escaped`() throws {
        let mail = "Content-Type: text/plain; name=\"a\u{1B}[2J\u{202E}b\"\r\n\r\nhello\r\n"
        #expect(try message(Array(mail.utf8)).filename == "a\u{1B}[2J\u{202E}b")
    }

    private func inspect(_ bytes: [UInt8]) throws -> Inspection { try Inspection(of: MemorySource(bytes)) }

    private func message(_ bytes: [UInt8]) throws -> Inspection.Part {
        guard case .message(let part) = try inspect(bytes).subject else { throw NotMail() }
        return part
    }

    private struct NotMail: Error {}
}

// Mail from alice, made by this test.
extension InspectTests {
    private static let time = Date(timeIntervalSince1970: 1_793_491_200)
    private static let plain = Array("From: alice@example.com\r\nContent-Type: text/plain\r\n\r\nhello\r\n".utf8)

    private func certificate(_ name: String) throws -> Certificate {
        let items = try KeyMaterial.read(Fixtures.cert("\(name)/cert.pem"))
        guard case .certificate(let certificate) = items.first else { throw NotMail() }
        return certificate
    }

    private func alice() throws -> SignedDataWriter.Signer {
        let key = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil)
        return SignedDataWriter.Signer(Identity(unchecked: try certificate("alice"), key))
    }

    private func signed(isOpaque: Bool = false, _ mail: [UInt8] = plain) throws -> [UInt8] {
        let sink = MemorySink()
        try MessageProtector(MemorySource(mail))
            .sign(by: alice(), as: isOpaque ? .opaque : .detached, at: Self.time, to: sink)
        return sink.bytes
    }

    private func signedObject() throws -> [UInt8] {
        let sink = MemorySink()
        try ContentProtector(MemorySource(Self.plain)).sign(by: alice(), as: .opaque, at: Self.time, to: sink)
        return sink.bytes
    }

    private func encrypted(_ mail: [UInt8] = plain) throws -> [UInt8] {
        let sink = MemorySink()
        try MessageProtector(MemorySource(mail))
            .encrypt(to: [Recipient(unchecked: certificate("alice"))], cipher: .aes256GCM, at: Self.time, to: sink)
        return sink.bytes
    }
}
