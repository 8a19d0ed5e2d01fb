import ByteStreams
import CMSSyntax
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

    @Test func `compressed content without a signature is unsigned`() async throws {
        let report = try await verify(try compressed(Array("Content-Type: text/plain\r\n\r\nHello\r\n".utf8)))
        #expect(report.status == .unsigned)
        #expect(report.layers.map(\.kind) == [.compressed])
        #expect(report.problems.isEmpty)
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
