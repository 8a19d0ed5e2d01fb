import ByteStreams
import CMSSyntax
import Foundation
import SMIME
import TestSupport
import Testing

/// CMS objects without a mail around them.
@Suite struct BareObjectTests {
    private func verify(_ object: [UInt8]) async throws -> VerificationReport {
        try await MessageOpener(try Keyring(people: ["alice"]), at: .judged)
            .verify(cms: MemorySource(object).stream(), detached: nil).report
    }

    @Test func `a signature inside compression is judged`() async throws {
        let mail = try Message("From: alice@example.com\r\n\r\nHello\r\n".utf8)
        let alice = try TestIdentity("alice").identityWithChain
        let signed = try await mail.signed(by: alice, at: .judged).bytes()
        let report = try await verify(try compressed(signed))
        #expect(report.status == .valid)
        #expect(report.layers.map(\.kind) == [.compressed, .signed])

        let hello = Array("hello".utf8)
        let place = try #require(signed.indices.first { signed[$0...].starts(with: Array("Hello".utf8)) })
        var changed = signed
        changed.replaceSubrange(place..<place + hello.count, with: hello)
        #expect(try await verify(try compressed(changed)).status == .invalid)
    }

    @Test func `the From of a compressed mail must name the signer`() async throws {
        let mail = try Message("From: alice@example.com\r\n\r\nHello\r\n".utf8).protectingHeader(.unprotected)
        let alice = try TestIdentity("alice").identityWithChain
        let signed = String(decoding: try await mail.signed(by: alice, at: .judged).bytes(), as: UTF8.self)
        let start = try #require(signed.range(of: "From: alice@example.com"))
        let foreign = Array(signed.replacingCharacters(in: start, with: "From: ceo@victim.test").utf8)
        let report = try await verify(try compressed(foreign))
        #expect(report.status == .mismatch)
        #expect(report.signers.first?.identity.problems.map(\.code) == ["signer-not-from"])

        let opener = MessageOpener(try Keyring(people: ["alice"]), at: .judged)
        let source = MemorySource(try compressed(foreign))
        #expect(try await opener.decrypt(cms: source.stream(), in: source).report.status == .mismatch)
    }

    @Test(arguments: ["ceo@victim.test and eve@example.com", "eve@victim.test@example.com"])
    func `an address in a certificate that is no address is not shown as the signer`(address: String) async throws {
        var factory = try CertificateFactory()
        try factory.issue("odd", subject: "/CN=Odd", extensions: ["subjectAltName=email:\(address)"])
        try factory.sh(
            "printf hello >m; openssl cms -sign -binary -nodetach -in m -signer odd.pem -inkey odd.key -outform DER -out s"
        )
        let signer = try #require(try await verify(try factory.bytes("s")).signers.first)
        #expect(signer.name == "CN=Odd")
        #expect(signer.address == nil)
    }

    @Test func `a line break in the name of a certificate is an error`() async throws {
        var factory = try CertificateFactory()
        try factory.issue("odd", subject: "/CN=Odd\nValid", extensions: ["keyUsage=digitalSignature"])
        try factory.sh(
            "printf hello >m; openssl cms -sign -binary -nodetach -in m -signer odd.pem -inkey odd.key -outform DER -out s"
        )
        let signer = try #require(try await verify(try factory.bytes("s")).signers.first)
        #expect(signer.identity.problems.map(\.code) == ["certificate-address-malformed"])
        #expect(signer.identity.ok == false)
    }

    @Test func `compressed content without a signature is unsigned`() async throws {
        let report = try await verify(try compressed(Array("Content-Type: text/plain\r\n\r\nHello\r\n".utf8)))
        #expect(report.status == .unsigned)
        #expect(report.layers.map(\.kind) == [.compressed])
        #expect(report.problems.isEmpty)
    }

    @Test func `of two RecipientInfos for one certificate, the supported one is used`() async throws {
        let alice = Recipient(unchecked: try TestIdentity("alice").certificate, rsaWrapping: .pkcs1)
        let cipher = try #require(ContentCipher(writable: "aes-256-gcm"))
        let content = Array("hello".utf8)
        let sink = MemorySink()
        try EnvelopedDataWriter(to: [alice, alice], cipher: cipher, contentCount: content.count).write(to: sink) {
            try $0.write(content)
        }
        var object = sink.bytes
        let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
        let places = object.indices.filter { object[$0...].starts(with: identifier) }
        try #require(places.count == 2)
        object[places[0] + 8] = 0x63
        let opener = MessageOpener(try Keyring(people: ["alice"]), at: .judged)
        let opened = try await opener.decrypt(cms: MemorySource(object).stream(), in: MemorySource(object))
        #expect(try await opened.bytes() == content)
    }

    @Test func `an encrypted object is unsigned, with a warning`() async throws {
        let object = try CryptographicMessage.encrypt(.init("text".utf8), to: [Recipient(password: "correct horse")])
        let report = try await verify(object)
        #expect(report.status == .unsigned)
        #expect(report.undecrypted?.code == "encrypted")
        #expect(report.problems.map(\.code) == ["encrypted"])
    }

    @Test func `an object that is neither signed, encrypted nor compressed is malformed`() async throws {
        // id-data with three bytes.
        let data: [UInt8] = [
            0x30, 18, 0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1, 0xA0, 5, 0x04, 3, 0x61, 0x62, 0x63,
        ]
        #expect(try await verify(data).status == .malformed)
    }

    private func compressed(_ content: [UInt8]) throws -> [UInt8] {
        let sink = MemorySink()
        try CompressedDataWriter { try $0.write(content) }.write(to: sink) { try $0.write(content) }
        return sink.bytes
    }
}
