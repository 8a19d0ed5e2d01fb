import Foundation
import SMIME
import TestSupport
import Testing

/// The five main types, used as in a program that imports only this module.
@Suite struct MessageTests {
    private static let time = Date(timeIntervalSince1970: 1_793_500_000)
    private static let text = "From: alice@example.com\r\nTo: bob@example.com\r\nSubject: Hello\r\n\r\nGood morning\r\n"

    private func certificate(_ path: String) throws -> Certificate { try Certificate(Fixtures.cert(path)) }

    private func keyring(_ names: String...) throws -> Keyring {
        Keyring(try names.map { try TestIdentity($0).identityWithChain }, trusting: [try certificate("ca/root.pem")])
    }

    private func mail() throws -> Message { try Message(Self.text.utf8) }

    @Test func `text does not become header when hidden recipients are removed`() throws {
        let text = "Bcc: a@x.test\r\nFrom foo bar\r\nFrom: eve@x.test\r\nBcc: hidden@x.test\r\n\r\nbody\r\n"
        let error = #expect(throws: SMIMEError.self) { try Message(text.utf8).withoutHiddenRecipients() }
        #expect(error?.code == .malformed)
        let plain = try Message("Bcc: a@x.test\r\nFrom: eve@x.test\r\n\r\nbody\r\n".utf8).withoutHiddenRecipients()
        #expect(plain.header.fields.map(\.name) == ["From"])
    }

    @Test func `layers in any order open to the same content`() async throws {
        let alice = try TestIdentity("alice").identityWithChain
        let recipient = try Recipient(certificate("bob/cert.pem"), at: Self.time)
        let triple = try mail().signed(by: alice, at: Self.time).encrypted(to: [recipient])
            .signed(by: alice, as: .opaque, at: Self.time)
        let twice = try mail().encrypted(to: [recipient]).encrypted(to: [recipient])
        for message in [triple, twice] {
            let opened = try await message.opened(with: keyring("bob"), at: Self.time)
            #expect(String(decoding: try await opened.bytes(), as: UTF8.self) == Self.text)
        }
        let report = try await triple.verified(with: keyring("bob"), at: Self.time)
        #expect(report.status == .valid, "\(report.problems)")
    }

    @Test(arguments: [
        "Content-Type: application/octet-stream; name=smime.p7m",
        "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=SMIME.P7M",
        "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename*=utf-8''smime%2Ep7m",
    ])
    func `a signature inside the encryption is found by the name of its file`(fields: String) async throws {
        let alice = try TestIdentity("alice").identityWithChain
        let recipient = try Recipient(certificate("bob/cert.pem"), at: Self.time)
        let signed = try await mail().signed(by: alice, as: .opaque, at: Self.time).bytes()
        let renamed = String(decoding: signed, as: UTF8.self)
            .replacing(/Content-Disposition: [^\r]*\r\n/, with: "")
            .replacing(/Content-Type: (?:[^\r]|\r\n[ \t])*/, with: fields)
        #expect(renamed.contains(fields))
        let opened = try await Message(Array(renamed.utf8)).encrypted(to: [recipient])
            .opened(with: keyring("bob"), at: Self.time)
        #expect(opened.report.status == .valid, "\(opened.report.problems)")
        #expect(opened.report.layers.count == 2)
    }

    @Test func `signed and plain messages are opened`() async throws {
        let alice = try TestIdentity("alice").identityWithChain
        let signed = try await Message(mail().signed(by: alice, at: Self.time).bytes())
        let opened = try await signed.opened(with: keyring(), at: Self.time)
        #expect(opened.report.status == .valid)
        #expect(opened.verifiedAuthor?.text == "alice@example.com")
        #expect(try await opened.bytes() == signed.bytes())
        let plain = try await mail().opened(with: keyring(), at: Self.time)
        #expect(plain.report.status == .unsigned)
        #expect(plain.verifiedAuthor == nil)
        #expect(try await plain.bytes() == Array(Self.text.utf8))
    }

    @Test func `a message read in pieces is the same message`() async throws {
        let pieces = AsyncStream<[UInt8]> { continuation in
            for byte in Self.text.utf8 { continuation.yield([byte]) }
            continuation.finish()
        }
        #expect(try await Message(pieces).bytes() == Array(Self.text.utf8))
    }

    @Test(arguments: [
        ("bob", "does not name alice@example.com"), ("alice-old", "has expired"),
        ("encrypt-only", "does not permit signing"), ("future", "not valid yet"),
        ("wrong-eku", "does not permit signing"),
    ])
    func `signing with a certificate that no reader would accept is refused`(name: String, reason: String) throws {
        let error = #expect(throws: SMIMEError.self) {
            try mail().signed(by: TestIdentity(name).identityWithChain, at: Self.time)
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }

    @Test(arguments: ["From: a@x.test, b@x.test\n\nx\n", "Subject: s\n\nx\n", "From: a@x.test\nFrom: b@x.test\n\nx\n"])
    func `signing is refused if From does not name one author`(text: String) throws {
        #expect(throws: SMIMEError.self) {
            try Message(text.utf8).signed(by: TestIdentity("alice").identityWithChain, at: Self.time)
        }
    }

    @Test(arguments: [
        ("ca/root.pem", "CA certificate"), ("sign-only/cert.pem", "does not permit encryption"),
        ("expired/cert.pem", "has expired"), ("future/cert.pem", "not valid yet"), ("weak/cert.pem", "too short"),
        ("wrong-eku/cert.pem", "does not permit encryption"),
    ])
    func `encrypting to an unsuitable certificate is refused unless it is unchecked`(path: String, reason: String)
        throws
    {
        let certificate = try certificate(path)
        let error = #expect(throws: SMIMEError.self) { try Recipient(certificate, at: Self.time) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        _ = try mail().encrypted(to: [Recipient(unchecked: certificate)])
    }

    @Test func `a key that belongs to another certificate is no identity`() throws {
        let (alice, bob) = (try TestIdentity("alice").identityWithChain, try TestIdentity("bob").identityWithChain)
        let error = #expect(throws: SMIMEError.self) { try Identity(certificate: alice.certificate, key: bob.key) }
        #expect(error?.code == .noKeyPair && error?.kind == .key)
        #expect("\(alice)".contains(alice.certificate.fingerprint.description))
    }
}
