import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// For every message: a signed one verifies, an encrypted one can be opened, and nothing crashes.
@Suite struct OddMessageTests {
    private static let time = Date(timeIntervalSince1970: 1_793_491_200)

    private let signer: SignedDataWriter.Signer
    private let recipient: Recipient
    private let opener: MessageOpener

    init() throws {
        let carol = try Keyring(people: ["carol"])
        signer = try SignedDataWriter.Signer(person: "carol")
        recipient = Recipient(unchecked: try #require(carol.identities.first).certificate)
        opener = MessageOpener(carol, at: Self.time)
    }

    @Test(arguments: 0..<4)
    func `signatures over odd messages are valid`(seed: Int) async throws {
        var messages = OddMessages(seed)
        var signed = 0
        for number in 0..<OddMessages.count(standard: 600) / 4 {
            let bytes = messages.next()
            let sink = MemorySink()
            do {
                let form = number.isMultiple(of: 2) ? SignatureForm.detached : .opaque
                try MessageProtector(MemorySource(bytes)).sign(by: signer, as: form, at: Self.time, to: sink)
            } catch {
                try checkRefusal(error, of: bytes)
                continue
            }
            signed += 1
            let report = try await opener.verify(MemorySource(sink.bytes)).report
            #expect(report.status == .valid, "\(report.problems) \(report.signers.flatMap(\.problems))\n\(bytes.shown)")
        }
        #expect(signed > 0)
    }

    @Test(arguments: 0..<4)
    func `encrypted odd messages are decrypted completely`(seed: Int) async throws {
        var messages = OddMessages(seed + 100)
        var opened = 0
        for number in 0..<OddMessages.count(standard: 600) / 4 {
            let bytes = messages.next()
            let isSigned = number.isMultiple(of: 3)
            let sink = MemorySink()
            do {
                try MessageProtector(
                    MemorySource(bytes),
                    headers: number.isMultiple(of: 5) ? .unprotected : Self.hiding
                ).encrypt(
                    to: [recipient],
                    cipher: number.isMultiple(of: 2) ? .aes128GCM : .aes128CBC,
                    signedBy: isSigned ? (signer, .detached) : nil,
                    at: Self.time,
                    to: sink
                )
            } catch {
                try checkRefusal(error, of: bytes)
                continue
            }
            do {
                let message = try await opener.decrypt(MemorySource(sink.bytes))
                try message.write(to: CountingSink())
                #expect(!isSigned || message.report.status == .valid, "\(message.report.problems)\n\(bytes.shown)")
                opened += 1
            } catch MessageError.notARecipient {
                continue
            } catch { Issue.record("\(error)\n\(bytes.shown)") }
        }
        #expect(opened > 0)
    }

    private static let hiding = HeaderPolicy(confidentiality: .baseline, hasLegacyDisplay: true)

    /// Messages made by others are judged, and opened if possible.
    @Test(arguments: 0..<4)
    func `odd messages protected by other programs get a verdict`(seed: Int) async throws {
        var messages = OddMessages(seed + 200)
        for _ in 0..<OddMessages.count(standard: 400) / 4 {
            let bytes = messages.next()
            _ = try await opener.verify(MemorySource(bytes)).report
            let sealed = try enveloped(bytes)
            _ = try await opener.verify(MemorySource(sealed)).report
            do { try await opener.decrypt(MemorySource(sealed)).write(to: CountingSink()) } catch {
                try checkRefusal(error, of: bytes)
            }
        }
    }

    /// `bytes` encrypted unchanged.
    private func enveloped(_ bytes: [UInt8]) throws -> [UInt8] {
        let sink = MemorySink()
        try sink.write(
            """
            From: carol@example.com
            Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m
            Content-Transfer-Encoding: base64


            """
        )
        let encoder = Base64Encoder(sink, lineEnd: [10])
        let writer = try EnvelopedDataWriter(to: [recipient], cipher: .aes128CBC, contentCount: bytes.count)
        try writer.write(to: encoder) { try $0.write(bytes) }
        try encoder.finish()
        return sink.bytes
    }

    /// An error must say what is wrong with the message.
    private func checkRefusal(_ error: any Error, of bytes: [UInt8]) throws {
        switch error {
        case is MessageError, MIMEError.limitExceeded, CMSError.decryptionFailed: break
        default: Issue.record("\(error)\n\(bytes.shown)")
        }
    }
}

extension [UInt8] {
    fileprivate var shown: String { String(decoding: self, as: UTF8.self) }
}
