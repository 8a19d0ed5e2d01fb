import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// CMS objects made to cause damage or to deceive.
@Suite struct HostileCMSTests {
    private let time = Date(timeIntervalSince1970: 1_790_000_000)

    private func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        // Whole arrays are appended, because copying millions of bytes one by one takes seconds in a debug build.
        let contents = parts.reduce(into: []) { $0.append(contentsOf: $1) }
        let length = withUnsafeBytes(of: UInt32(contents.count).bigEndian) { Array($0) }
        return [tag, 0x84] + length + contents
    }

    /// The contents of a definite-length element.
    private func contents(_ element: some Collection<UInt8>) -> [UInt8] {
        let bytes = Array(element)
        let extra = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
        return Array(bytes.dropFirst(2 + extra))
    }

    private func sign(_ content: [UInt8], by name: String, usesKeyIdentifier: Bool = false) throws -> [UInt8] {
        let identity = try TestIdentity(name)
        return try SignedDataWriter.Signer(
            Identity(unchecked: identity.certificate, identity.key),
            digest: .sha256,
            usesKeyIdentifier: usesKeyIdentifier
        ).signed(content, at: time)
    }

    private static let data: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
    private static let signedData: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2]
    private static let envelopedData: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 3]
    private static let ellipticCurve: [UInt8] = [0x06, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]

    @Test(arguments: [190_000, 20])
    func `recipients of a million elements are refused`(elements: Int) throws {
        let parameters = element(
            0x30,
            [5, 0].flood(2 * elements)
        )
        let originator = element(0xA0, element(0xA1, element(0x30, Self.ellipticCurve), [3, 2, 0, 4]))
        let agreement = element(
            0xA1,
            [2, 1, 3],
            originator,
            element(0x30, Self.ellipticCurve, parameters),
            element(0x30)
        )
        let recipients = element(0x31, agreement.flood(2_000_000 / elements * agreement.count))
        let content = element(0x30, Self.data)
        let message = element(
            0x30,
            Self.envelopedData,
            element(0xA0, element(0x30, [2, 1, 2], recipients, content))
        )
        #expect {
            try EnvelopedData(reading: ByteStream(message))
        } throws: {
            if case CMSError.limitExceeded = $0 { true } else { false }
        }
    }

    @Test func `more than 40 MB of certificates are refused`() throws {
        let certificate = element(0x30, [UInt8](repeating: 0, count: 1 << 20))
        let message = element(
            0x30,
            Self.signedData,
            element(
                0xA0,
                element(
                    0x30,
                    [2, 1, 1],
                    element(0x31),
                    element(0x30, Self.data),
                    element(0xA0, certificate.flood(40 * certificate.count)),
                    element(0x31)
                )
            )
        )
        #expect {
            try SignedData(reading: ByteStream(message))
        } throws: {
            if case CMSError.limitExceeded = $0 { true } else { false }
        }
    }

    @Test func `only a limited number of the certificates that may be the signer's is tried`() throws {
        var signed = try sign(sample(10), by: "alice")
        signed[signed.count - 1] ^= 1
        let data = try SignedData(reading: ByteStream(signed))
        let signer = try #require(data.signers.first)
        let candidates = [Certificate](repeating: try TestIdentity("alice").certificate, count: 100_000)
        #expect(data.check(signer, candidates: candidates).problems.map(\.code) == ["signer-ambiguous"])
    }

    @Test func `of two certificates with one key the one in the signing-certificate attribute is used`() throws {
        let data = try SignedData(reading: ByteStream(sign(sample(10), by: "alice", usesKeyIdentifier: true)))
        let signer = try #require(data.signers.first)
        let (alice, other) = (try TestIdentity("alice").certificate, try TestIdentity("alice-reissued").certificate)
        for candidates in [[other, alice], [alice, other]] {
            let check = data.check(signer, candidates: candidates)
            #expect(check.problems.map(\.code) == [])
            #expect(check.certificates == [alice])
        }
        #expect(data.check(signer, candidates: [other]).problems.map(\.code) == ["signer-certificate-mismatch"])
    }

    @Test func `a signature algorithm that does not fit the key does not verify`() throws {
        var signed = try sign(sample(10), by: "alice")
        let rsa: [UInt8] = [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]
        let dsa: [UInt8] = [0x06, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 3, 2]
        let start = try #require((0...signed.count - rsa.count).last { signed[$0...].starts(with: rsa) })
        signed.replaceSubrange(start..<start + rsa.count, with: dsa)
        let data = try SignedData(reading: ByteStream(signed))
        let signer = try #require(data.signers.first)
        #expect(signer.signatureName == "dsa")
        #expect(data.check(signer, candidates: data.certificates).problems.map(\.code) == ["signature-invalid"])
    }

    @Test(arguments: [0x01, 0x41, 0x80, 0xFF])
    func `every changed byte gives a CMSError or a readable object`(mask: UInt8) throws {
        let signed = try sign(sample(10), by: "carol")
        for index in signed.indices {
            var changed = signed
            changed[index] ^= mask
            do { _ = try SignedData(reading: ByteStream(changed)) } catch {
                #expect(error is CMSError, "byte \(index): \(error)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `signed attributes presented as content do not verify`(isDetached: Bool) throws {
        let digest = element(0x04, sample(32))
        let attributes = try DERAttributes.set([
            Self.signedData.dropLast(2) + [9, 3], Self.data,
            Self.signedData.dropLast(2) + [9, 4], digest,
        ])
        let folder = try TestIdentity("alice").folder.path
        let signed = try OpenSSLCommand().cms(
            "-sign -noattr \(isDetached ? "" : "-nodetach ")-outform DER -signer \(folder)/cert.pem -inkey \(folder)/key.pem",
            input: attributes
        )
        var data = try SignedData(reading: ByteStream(signed))
        if isDetached { try data.hashDetached(ByteStream(attributes)) }
        let signer = try #require(data.signers.first)
        #expect(data.check(signer, candidates: data.certificates).problems.map(\.code) == ["content-is-attributes"])
    }

    @Test func `authenticated attributes that the tag does not cover are refused`() throws {
        let identity = try TestIdentity("carol")
        let content = sample(50)
        let writer = try EnvelopedDataWriter(
            to: [Recipient(unchecked: identity.certificate)],
            cipher: .aes128GCM,
            contentCount: content.count
        )
        let sink = MemorySink()
        try writer.write(to: sink) { try $0.write(content) }
        let outer = contents(sink.bytes)
        let enveloped = contents(contents(outer.dropFirst(13)))
        let attribute = element(
            0x30,
            [0x06, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 3],
            element(0x31, Self.data)
        )
        let tag = enveloped.suffix(18)
        let changed = element(
            0x30,
            Array(outer.prefix(13)),
            element(0xA0, element(0x30, Array(enveloped.dropLast(18)), element(0xA1, attribute), Array(tag)))
        )
        let data = try EnvelopedData(reading: ByteStream(changed))
        let key = try data.key(for: #require(data.recipients.first), with: identity.key)
        #expect(throws: CMSError.decryptionFailed) { try data.check(with: key) { CountingSink() } }
    }

    @Test func `an element that ends after its parent is malformed`() throws {
        let reader = BERReader(MemorySource([0x30, 4, 0xA0, 0x80, 5, 0, 0, 0]).reader())
        try reader.enter(#require(try reader.peek()?.identifier))
        #expect(throws: CMSError.self) {
            _ = try reader.readElement()
            try reader.leave()
        }
    }
}

/// DER assembled by hand.
private enum DERAttributes {
    /// A SET of attributes with one value each; `parts` alternates between OIDs and values.
    static func set(_ parts: [[UInt8]]) throws -> [UInt8] {
        var attributes: [UInt8] = []
        for index in stride(from: 0, to: parts.count, by: 2) {
            let value = parts[index + 1]
            attributes += wrap(0x30, parts[index] + wrap(0x31, value))
        }
        return wrap(0x31, attributes)
    }

    private static func wrap(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag, UInt8(contents.count)] + contents }
}
