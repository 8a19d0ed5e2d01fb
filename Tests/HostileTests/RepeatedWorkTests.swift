import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import TestSupport
import Testing

/// Messages that cause repeated work or growing caches.
@Suite(.serialized, .timeLimit(.minutes(15))) struct RepeatedWorkTests {
    @Test func `a flood of signing-certificate attributes does not cause the certificate to be hashed`() throws {
        let (key, authority) = (try Person.alice.get().key, try Authority.untrusted.get())
        var forge = CertificateForge(key)
        forge.others = [Extension.make("1.2.3.4", [UInt8](repeating: 0x41, count: 900_000))]
        let person = try forge.person(key, below: authority)
        let attribute = try Attributes.signingCertificate(person.certificate)
        var signed = SignedForge(MailForge.text, by: person, isDetached: false)
        signed.signers[0].signedAttributes = {
            Attributes.usual($0) + Array(repeating: attribute, count: 16_000)
        }
        let data = try SignedData(reading: MemorySource(signed.encoded()).stream())
        let (signer, certificate) = (try #require(data.signers.first), try #require(data.certificates.first))
        let check = data.check(signer, candidates: Array(repeating: certificate, count: 100))
        #expect(check.problems.map(\.code).contains("signer-certificate-mismatch"))
    }

    @Test func `long content is not hashed once for each Ed25519 key that may be the signer's`() throws {
        let key = try Person.alice.get().key
        var forge = CertificateForge(key)
        let other = try Person("dana")
        forge.publicKey = TLV.sequence(TLV.sequence(TLV.oid("1.3.101.112")), TLV.bits([UInt8](repeating: 7, count: 32)))
        let stranger = try forge.person(key, below: Authority.untrusted.get())
        let content = [UInt8](repeating: 0x41, count: 1 << 20)
        func codes(_ count: Int) throws -> [String] {
            var signed = SignedForge(content, by: other, isDetached: false)
            signed.signers[0].digest = "SHA512"
            signed.digestAlgorithms = [OID.digest("SHA512")]
            signed.signers[0].signatureAlgorithm = TLV.sequence(TLV.oid("1.3.101.112"))
            signed.signers[0].padding = .none
            signed.signers[0].signedAttributes = nil
            signed.signers[0].identifier = TLV.element(0x80, stranger.keyIdentifier)
            let data = try SignedData(reading: MemorySource(signed.encoded()).stream())
            let certificate = try Certificate(der: stranger.certificate)
            let candidates = Array(repeating: certificate, count: count)
            return data.check(try #require(data.signers.first), candidates: candidates).problems.map(\.code)
        }
        #expect(try codes(10).contains("signature-invalid"))
        #expect(try codes(100).contains("signer-ambiguous"))
    }

    @Test(arguments: [(256, true), (20_000, false)])
    func `only keys of usual size are cached`(bytes: Int, isKept: Bool) throws {
        var forge = CertificateForge(try Person.alice.get().key)
        let number = TLV.element(0x02, [0] + [UInt8](repeating: 0xC1, count: bytes))
        let key = TLV.bits(TLV.sequence(number, TLV.integer(65_537)))
        forge.publicKey = TLV.sequence(TLV.sequence(TLV.oid(OID.rsa), TLV.null), key)
        let certificate = try Certificate(der: forge.signed(by: Authority.untrusted.get()))
        let (first, second) = (try certificate.publicKey(), try certificate.publicKey())
        #expect((first === second) == isKept)
    }

    @Test func `a long line of quotation marks in a mailbox is not held in memory`() throws {
        let harness = try Harness.shared.get()
        let file = harness.folder.appending(path: "quotation.mbox")
        defer { try? FileManager.default.removeItem(at: file) }
        let line = [UInt8](repeating: UInt8(ascii: ">"), count: 48 << 20)
        let mail = MailForge().signed(
            MailForge.text + line,
            signature: try SignedForge(MailForge.text, by: Person.alice.get()).encoded()
        )
        try Data(Array("From x@example.com Sat Nov 21 02:40:42 2026\r\n".utf8) + mail).write(to: file)
        let result = try harness.run(["harvest", file.path], seconds: 280, measuresMemory: true)
        #expect(result.text.contains("1 refused"), "\(result.text) \(result.errorText)")
        let peak = try #require(result.peakMemory)
        #expect(peak < 80 << 20 || Tool.isSanitized, "\(peak >> 20) MiB")
    }
}
