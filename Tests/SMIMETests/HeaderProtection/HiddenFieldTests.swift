import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// Fields are hidden in every encrypted message, also if its own header cannot be changed.
@Suite struct HiddenFieldTests {
    private static let fields = "From: alice@example.com\r\nTo: bob@example.com\r\nSubject: the plan\r\n"
    private static let policies = [HeaderPolicy(), .unprotected]

    private func encrypted(_ mail: [UInt8], _ policy: HeaderPolicy) throws -> [UInt8] {
        let bob = try TestIdentity("bob").certificate
        let sink = MemorySink()
        try MessageProtector(MemorySource(mail), headers: policy)
            .encrypt(to: [Recipient(unchecked: bob)], cipher: .aes256GCM, at: .judged, to: sink)
        return sink.bytes
    }

    private func signed(_ mail: String, _ form: SignatureForm, _ policy: HeaderPolicy) throws -> [UInt8] {
        let alice = try SignedDataWriter.Signer(person: "alice")
        let sink = MemorySink()
        try MessageProtector(MemorySource(mail.bytes), headers: policy).sign(by: alice, as: form, at: .judged, to: sink)
        return sink.bytes
    }

    private func decrypted(_ mail: [UInt8]) async throws -> (report: VerificationReport, text: String) {
        let opened = try await MessageOpener(Keyring(people: ["bob"]), at: .judged).decrypt(MemorySource(mail))
        let sink = MemorySink()
        try opened.write(to: sink)
        return (opened.report, sink.bytes.text)
    }

    @Test(arguments: [SignatureForm.detached, .opaque], policies)
    func `already signed mail hides its subject, and the signature stays valid`(
        form: SignatureForm,
        policy: HeaderPolicy
    ) async throws {
        let mail = Self.fields + "MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nhello\r\n"
        let sealed = try encrypted(signed(mail, form, policy), HeaderPolicy(confidentiality: .baseline))
        #expect(!sealed.text.contains("the plan"))
        #expect(sealed.text.contains("Subject: [...]\r\n"))
        let (report, text) = try await decrypted(sealed)
        #expect(report.signers.allSatisfy { $0.integrity.ok == true } && !report.signers.isEmpty)
        #expect(report.headers?.hidden == ["subject"])
        #expect(report.headers?.differing.isEmpty == true)
        #expect(report.headers?.signed.contains("subject") == policy.isProtected)
        #expect(text == mail)
    }

    @Test func `a signed message whose type ends with a semicolon stays signed`() async throws {
        let mail = Self.fields + "MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nhello\r\n"
        let lines = try signed(mail, .detached, HeaderPolicy()).text.components(separatedBy: "\r\n")
        #expect(lines.contains { $0.contains("boundary=") && !$0.hasSuffix(";") })
        let signed = lines.map { $0.contains("boundary=") ? "\($0);" : $0 }.joined(separator: "\r\n")
        let (report, text) = try await decrypted(encrypted(signed.bytes, HeaderPolicy(confidentiality: .baseline)))
        #expect(report.signers.first?.integrity.ok == true)
        #expect(text == mail)
    }

    @Test(arguments: ["text", "text/plain; name=\"open", "text/plain; (open", ""], [false, true])
    func `mail with a Content-Type that cannot be parsed hides its subject`(
        type: String,
        hasLegacyDisplay: Bool
    ) async throws {
        let mail = Self.fields + "Content-Type: \(type)\r\nX-Own: kept\r\n\r\nhello\r\n"
        let policy = HeaderPolicy(confidentiality: .baseline, hasLegacyDisplay: hasLegacyDisplay)
        let sealed = try encrypted(mail.bytes, policy)
        #expect(!sealed.text.contains("the plan"))
        let (report, text) = try await decrypted(sealed)
        #expect(report.headers?.scheme == .wrapped)
        #expect(text == mail)
    }

    @Test(
        arguments: ["hp-legacy-display=\"1\"", "hp-legacy-display*=us-ascii''1", "hp-legacy-display=1; charset=utf-8"],
        [HeaderPolicy(), HeaderPolicy(confidentiality: .baseline, hasLegacyDisplay: true)]
    )
    func `a mark of a legacy display that the author left hides no text from the recipient`(
        mark: String,
        policy: HeaderPolicy
    ) async throws {
        func mail(_ type: String) -> String {
            Self.fields + "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=M\r\n\r\n--M\r\n"
                + "Content-Type: text/plain\(type)\r\n\r\nSubject: the plan\r\n\r\nSecond.\r\n--M--\r\n"
        }
        let rest = mark.contains("charset") ? "; charset=utf-8" : ""
        #expect(try await decrypted(encrypted(mail("; \(mark)").bytes, policy)).text == mail(rest))
    }

    @Test func `mail with a very long header hides its subject`() async throws {
        let references = String(repeating: "\r\n <0123456789012345678901234567890123456789@example.com>", count: 5_000)
        let mail = Self.fields + "References:\(references)\r\n\r\nhello\r\n"
        let sealed = try encrypted(mail.bytes, HeaderPolicy(confidentiality: .baseline))
        #expect(!sealed.text.contains("the plan"))
        #expect(try await decrypted(sealed).text == mail)
    }
}
