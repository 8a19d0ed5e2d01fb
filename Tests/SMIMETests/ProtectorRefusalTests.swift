import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// Messages that recipients could not open or trust, or that would reveal too much, are refused.
@Suite struct ProtectorRefusalTests {
    private static let time = Date(timeIntervalSince1970: 1_790_000_000)
    private static let mail = "From: alice@example.com\nTo: bob@example.com\nBcc: carol@example.com\n\nhello\n"

    private func protector(omitting names: Set<String>? = nil) throws -> MessageProtector {
        let source = MemorySource(Array(Self.mail.utf8))
        return try names.map { try MessageProtector(source, omitting: $0) } ?? MessageProtector(source)
    }

    @Test func `encrypting without recipients is refused`() throws {
        let sink = MemorySink()
        #expect(throws: CMSError.unsupported("encryption without recipients")) {
            try protector().encrypt(to: [], cipher: .aes256GCM, at: Self.time, to: sink)
        }
        #expect(sink.bytes.isEmpty)
    }

    @Test func `signing with a key that does not fit the certificate is refused`() throws {
        let (alice, bob) = (try SignedDataWriter.Signer(person: "alice"), try SignedDataWriter.Signer(person: "bob"))
        let mixed = SignedDataWriter.Signer(Identity(unchecked: alice.identity.certificate, bob.identity.key))
        #expect(throws: CMSError.unsupported("signing with a key that is not the certificate's")) {
            try protector().sign(by: mixed, as: .detached, at: Self.time, to: MemorySink())
        }
    }

    @Test(arguments: [Date.distantPast, Date(timeIntervalSince1970: 1e12), Date(timeIntervalSince1970: .infinity)])
    func `a signing time that cannot be encoded is refused`(time: Date) throws {
        let signer = try SignedDataWriter.Signer(person: "alice")
        #expect(throws: CMSError.unsupported("a signing time outside the years 1000 to 9999")) {
            try protector().sign(by: signer, as: .detached, at: time, to: MemorySink())
        }
    }

    @Test func `Bcc is kept only on request`() throws {
        let signer = try SignedDataWriter.Signer(person: "alice")
        let (without, with) = (MemorySink(), MemorySink())
        try protector().sign(by: signer, as: .detached, at: Self.time, to: without)
        try protector(omitting: []).sign(by: signer, as: .detached, at: Self.time, to: with)
        #expect(!String(decoding: without.bytes, as: UTF8.self).contains("carol"))
        #expect(String(decoding: with.bytes, as: UTF8.self).contains("Bcc: carol@example.com"))
    }

    @Test(arguments: [
        "From: a@example.com\rTo: b@example.com\r\rsecret", "Received: x\r\nFrom: a@example.com\r\rsecret",
    ])
    func `text that many programs take for the body is not left in the header`(mail: String) {
        #expect(throws: MessageError.defective(.bareCR)) { try MessageProtector(MemorySource(Array(mail.utf8))) }
    }

    @Test(arguments: [
        ("X-A: b\r\r\n", MIMEDefect.bareCR), ("X-A: b\u{C}From: eve@example.com\r\n", .hiddenFields),
        ("X-A: b\u{1C}Subject: c\r\n", .hiddenFields), ("X-A: b\u{85}From: eve@example.com\r\n", .hiddenFields),
        ("From2: eve@example.com\r\n", .hiddenFields), (">From eve\r\n", .hiddenFields),
        ("\u{FEFF}>From eve\r\n", .hiddenFields), ("X-A: b\u{2028}Subject: x\r\n", .hiddenFields),
        ("X-A: b\u{B}From: x\r\n", .hiddenFields), ("From_: x\r\n", .hiddenFields),
    ])
    func `a header that programs read differently is refused`(field: String, defect: MIMEDefect) {
        let mail = "\(field)From: a@example.com\r\nTo: b@example.com\r\n\r\nhello\r\n"
        #expect(throws: MessageError.defective(defect)) { try MessageProtector(MemorySource(Array(mail.utf8))) }
    }

    @Test(arguments: [
        ("Content-Type: text/plain\nContent-Type: text/html\n", MIMEDefect.duplicateContentType),
        ("Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: 8bit\n", .duplicateTransferEncoding),
        ("Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: base64\n", .encodedMultipart),
        ("Content-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: quoted-printable\n", .encodedMultipart),
        ("Content-Type: multipart/mixed\n", .missingBoundary),
        ("Content-Type: multipart/mixed; boundary=b; boundary=c\n", .contradictoryBoundary),
    ])
    func `messages that would be refused when read are neither signed nor encrypted`(
        fields: String,
        defect: MIMEDefect
    )
        throws
    {
        let mail = "From: alice@example.com\n\(fields)\n--b\n\nhello\n--b--\n"
        let alice = try SignedDataWriter.Signer(person: "alice")
        let sink = MemorySink()
        #expect(throws: MessageError.defective(defect)) {
            try MessageProtector(MemorySource(Array(mail.utf8))).sign(by: alice, as: .opaque, at: Self.time, to: sink)
        }
        #expect(throws: MessageError.defective(defect)) {
            try MessageProtector(MemorySource(Array(mail.utf8)))
                .encrypt(
                    to: [Recipient(unchecked: alice.identity.certificate)],
                    cipher: .aes256GCM,
                    at: Self.time,
                    to: sink
                )
        }
        #expect(sink.bytes.isEmpty)
    }

    @Test(arguments: [
        "multipart/signed; protocol=\"application/pkcs7-signature\"; boundary=b\n\n--b\n\nhello\n--b--\n",
        "application/pkcs7-mime; name=smime.p7m\n\nhello\n",
        "application/pkcs7-mime; name=smime.p7m\nContent-Transfer-Encoding: base64\n\nMAA=\n",
    ])
    func `a broken protected message is not encrypted again`(entity: String) throws {
        let bob = try TestIdentity("bob").certificate
        let source = MemorySource(Array("From: alice@example.com\nContent-Type: \(entity)".utf8))
        let error = #expect(throws: MessageError.self) {
            try MessageProtector(source).encrypt(
                to: [Recipient(unchecked: bob)],
                cipher: .aes256GCM,
                at: Self.time,
                to: MemorySink()
            )
        }
        guard case .malformed? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `an encrypted mail that only contains certificates opens`() async throws {
        let openssl = try OpenSSLCommand()
        let chain = Fixtures.certs.appending(path: "alice/chain.pem").path
        let bag = Data(try openssl.run("crl2pkcs7 -nocrl -certfile \(chain) -outform DER", input: []))
        let type = "Content-Type: application/pkcs7-mime; smime-type=certs-only; name=smime.p7c"
        let mail =
            "From: alice@example.com\n\(type)\nContent-Transfer-Encoding: base64\n\n\(bag.base64EncodedString())\n"
        let bob = try TestIdentity("bob").certificate
        let (sealed, opened) = (MemorySink(), MemorySink())
        try MessageProtector(MemorySource(Array(mail.utf8)))
            .encrypt(to: [Recipient(unchecked: bob)], cipher: .aes256GCM, at: Self.time, to: sealed)
        try await MessageOpener(Keyring(people: ["bob"]), at: Self.time).decrypt(MemorySource(sealed.bytes)).write(
            to: opened
        )
        #expect(try CertificatesMessage(MemorySource(opened.bytes))?.certificates.count == 2)
    }

    @Test func `fields after a line that is no field are signed as text`()
        async throws
    {
        let mail = "From: alice@example.com\nno field\nSubject: hidden\n\nhello\n"
        let sink = MemorySink()
        try MessageProtector(MemorySource(Array(mail.utf8)))
            .sign(by: SignedDataWriter.Signer(person: "alice"), as: .detached, at: Self.time, to: sink)
        let report = try await MessageOpener(Keyring(people: ["alice"]), at: Self.time).verify(MemorySource(sink.bytes))
            .report
        #expect(report.status == .valid, "\(report.problems)")
    }

    @Test func `a certificate given twice is encrypted to once`() throws {
        let certificate = try TestIdentity("bob").certificate
        let parties = ["bob", "BOB"].map {
            CipherNegotiation.Party(name: $0, certificate: certificate, capabilities: nil)
        }
        let negotiated = try CipherNegotiation(for: parties, CipherNegotiation.Preferences())
        #expect(negotiated.verdicts.count == 2 && negotiated.recipients.count == 1)
    }

    @Test func `a task that was cancelled opens nothing`() async throws {
        let sink = MemorySink()
        let bob = try TestIdentity("bob").certificate
        try protector().encrypt(to: [Recipient(unchecked: bob)], cipher: .aes256GCM, at: Self.time, to: sink)
        let opener = MessageOpener(try Keyring(people: ["bob"]), at: Self.time)
        let source = MemorySource(sink.bytes)
        #expect(try await opener.decrypt(source).report.layers.count == 1)
        let opening = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await opener.decrypt(source).report
        }
        await #expect(throws: CancellationError.self) { _ = try await opening.value }
    }
}
