import ByteStreams
import CMSSyntax
import CertificateDiscovery
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import TestSupport
import Testing

/// Limits in docs/limits.md: input at the limit is accepted, larger input is rejected. README.md names the tests of the others.
@Suite struct LimitTests {
    private static func refused(_ body: () throws -> Void) -> Bool {
        do { try body() } catch {
            switch error {
            case CMSError.limitExceeded, MIMEError.limitExceeded, MessageError.tooManyLayers: return true
            default: return false
            }
        }
        return false
    }

    /// The numbers on the page and in the code agree.
    @Test func `docs/limits.md agrees with the code`() throws {
        let page = try String(contentsOf: Fixtures.root.appending(path: "docs/limits.md"), encoding: .utf8)
        let rows: [(String, Int)] = [
            ("nested multiparts", MIMELimit.depth.rawValue),
            ("parts of a message", MIMELimit.parts.rawValue),
            ("bytes of a header", MIMELimit.headerBytes.rawValue),
            ("bytes of all headers", MIMELimit.totalHeaderBytes.rawValue),
            ("addresses in a field", MIMELimit.addresses.rawValue), ("S/MIME layers", MessageOpener.maximumLayers),
            ("certificates in a CMS object", SignedData.maximumCertificates), ("signers", SignedData.maximumSigners),
            ("recipients", EnvelopedData.maximumRecipients),
            ("certificates in a PKCS#12 file", PKCS12.maximumCertificates),
            ("private keys in a PKCS#12 file", PKCS12.maximumKeys),
            (
                "names, name constraints, policies and distribution points together, or extensions, of a certificate in a chain",
                Certificate.maximumNames
            ),
            ("names of the distribution point that a revocation list is for", CertificateList.maximumNames),
            ("bytes of a PKCS#12 file", PKCS12.maximumCount),
            ("iterations over a whole PKCS#12 file", PKCS12.maximumIterations),
            (
                "iterations run for such a file: once for each block of a key and each form of the passphrase",
                PKCS12.maximumRuns
            ),
            ("depth of ASN.1", ElementExtent.maximumDepth),
            ("bytes of AES-CCM content", EnvelopedData.maximumWholeContent),
            ("bytes of content that Ed25519 signs without attributes", SignedData.maximumWholeContent),
            ("decompressed bytes for each compressed byte", CompressedData.maximumRatio),
            ("decompressed bytes", CompressedData.maximumCount),
            ("bytes of a certificate", Certificate.maximumCount),
            ("bytes of a revocation list", CertificateList.maximumCount),
            ("bytes of a responder's answer", OCSPResponse.maximumCount),
            ("bytes of what the network answers", HTTPClient.maximumCount),
        ]
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("| ") }
        #expect(lines.count == rows.count + 2, "a row of the page that no code stands behind")
        for (name, value) in rows { #expect(page.contains("| \(name) | \(value) |"), "\(name) \(value)") }
    }

    private func multipart(depth: Int) -> [UInt8] {
        var text = ""
        for level in 0..<depth { text += "Content-Type: multipart/mixed; boundary=b\(level)x\r\n\r\n--b\(level)x\r\n" }
        return Array((text + "\r\nhi\r\n").utf8)
    }

    @Test func `nested multiparts`() {
        let limit = MIMELimit.depth.rawValue
        #expect(throws: Never.self) { try MIMEReader.message(in: MemorySource(multipart(depth: limit))) }
        #expect(Self.refused { _ = try MIMEReader.message(in: MemorySource(multipart(depth: limit + 1))) })
    }

    @Test func `parts of a message`() {
        func message(_ count: Int) -> MemorySource {
            // The message itself counts as one part.
            let parts = String(repeating: "--b\r\n\r\nx\r\n", count: count - 1)
            return MemorySource(Array(("Content-Type: multipart/mixed; boundary=b\r\n\r\n" + parts + "--b--\r\n").utf8))
        }
        #expect(throws: Never.self) { try MIMEReader.message(in: message(MIMELimit.parts.rawValue)) }
        #expect(Self.refused { _ = try MIMEReader.message(in: message(MIMELimit.parts.rawValue + 1)) })
    }

    @Test func `bytes of a header`() {
        func message(_ count: Int) -> MemorySource {
            let field = "Subject: " + String(repeating: "x", count: count - 13) + "\r\n\r\n"
            return MemorySource(Array((field + "hi").utf8))
        }
        let limit = MIMELimit.headerBytes.rawValue
        #expect(throws: Never.self) { try MIMEReader.message(in: message(limit)) }
        #expect(Self.refused { _ = try MIMEReader.message(in: message(limit + 64)) })
    }

    @Test func `addresses in a field`() {
        func list(_ count: Int) -> String { (0..<count).map { "a\($0)@example.com" }.joined(separator: ", ") }
        #expect(throws: Never.self) { try AddressList(list(MIMELimit.addresses.rawValue)) }
        #expect(Self.refused { _ = try AddressList(list(MIMELimit.addresses.rawValue + 1)) })
    }

    @Test func `signers and certificates of a CMS object`() throws {
        func signed(signers: Int, certificates: Int) throws -> ByteStream {
            var forge = SignedForge(MailForge.text, by: try Person.alice.get(), isDetached: false)
            forge.signers = Array(repeating: forge.signers[0], count: signers)
            forge.certificates = Array(repeating: forge.certificates[0], count: certificates)
            return MemorySource(try forge.encoded()).stream()
        }
        #expect(try SignedData(reading: signed(signers: 16, certificates: 1)).signers.count == 16)
        #expect(Self.refused { _ = try SignedData(reading: signed(signers: 17, certificates: 1)) })
        #expect(try SignedData(reading: signed(signers: 1, certificates: 1000)).certificates.count == 1000)
        #expect(Self.refused { _ = try SignedData(reading: signed(signers: 1, certificates: 1001)) })
    }

    @Test func `recipients of a message`() throws {
        func enveloped(_ count: Int) throws -> ByteStream {
            var forge = EnvelopedForge(gcm: MailForge.text, to: try Person.alice.get())
            forge.recipients[0].wrap = { _ in [1] }
            forge.rawRecipients = Array(repeating: try forge.recipients[0].encoded([]), count: count - 1)
            return MemorySource(try forge.encoded()).stream()
        }
        #expect(try EnvelopedData(reading: enveloped(20_000)).recipients.count == 20_000)
        #expect(Self.refused { _ = try EnvelopedData(reading: enveloped(20_001)) })
    }

    @Test func `S/MIME layers`() async throws {
        func message(_ layers: Int) throws -> MemorySource {
            var entity = MailForge.text
            for _ in 0..<layers {
                let object = try EnvelopedForge(gcm: entity, to: Person.alice.get()).encoded()
                entity = CMSPart.entity(object, "authenveloped-data")
            }
            return MemorySource(MailForge().mail(entity))
        }
        let opener = try MessageOpener.ofAliceAndCarol()
        let sink = MemorySink()
        try await opener.decrypt(message(8)).write(to: sink)
        #expect(!sink.bytes.isEmpty)
        await #expect(throws: MessageError.tooManyLayers) { try await opener.decrypt(message(9)) }
    }

    @Test func `S/MIME layers, all signed`() async throws {
        func codes(_ layers: Int) async throws -> [String] {
            var entity = MailForge.text
            for layer in 0..<layers {
                // A boundary that is also used inside is an error of its own.
                entity = SignedShape(boundary: "layer\(layer + 100)").entity(
                    entity,
                    signature: try SignedForge(entity, by: Person.alice.get()).encoded()
                )
            }
            let content = try await MessageOpener.ofAliceAndCarol().verify(MemorySource(MailForge().mail(entity)))
            return content.report.problems.filter { $0.level == .error }.map(\.code)
        }
        #expect(try await codes(8) == [])
        #expect(try await codes(9) == ["too-many-layers"])
        #expect(try await codes(25) == ["too-many-layers"])
    }

    @Test func `depth of ASN.1`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            (0..<depth).reduce(TLV.null) { element, _ in TLV.sequence(element) }
        }
        func signed(_ depth: Int) throws -> SignedData {
            // These elements enclose it: ContentInfo, [0], SignedData, SET, SignerInfo, [1], Attribute, SET.
            var forge = SignedForge(MailForge.text, by: try Person.alice.get(), isDetached: false)
            forge.signers[0].unsignedAttributes = [Attributes.make("1.2.3.4.5", nested(depth))]
            return try SignedData(reading: MemorySource(try forge.encoded()).stream())
        }
        #expect(try signed(30).signers.count == 1)
        // At the limit, and one more; the innermost element is not constructed.
        #expect(throws: Never.self) { try ElementExtent(of: nested(ElementExtent.maximumDepth)) }
        #expect(Self.refused { _ = try ElementExtent(of: nested(ElementExtent.maximumDepth + 1)) })
        #expect(throws: CMSError.self) { try signed(49) }
        #expect(throws: CMSError.self) { try signed(2000) }
    }

    @Test func `bytes of certificates, lists and PKCS#12 files`() throws {
        // A SEQUENCE of `count` bytes around an OCTET STRING. It is none of these structures, so the error shows whether its
        // length was checked first.
        func element(_ count: Int) -> [UInt8] {
            func length(_ count: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(count).bigEndian) { [0x84] + $0 } }
            return [0x30] + length(count - 6) + [0x04] + length(count - 12) + [UInt8](repeating: 0, count: count - 12)
        }
        let readers: [(Int, ([UInt8]) throws -> Void)] = [
            (Certificate.maximumCount, { _ = try Certificate(der: $0) }),
            (CertificateList.maximumCount, { _ = try CertificateList(der: $0) }),
            (PKCS12.maximumCount, { _ = try PKCS12($0, passphrase: nil) }),
        ]
        for (limit, read) in readers {
            #expect(!Self.refused { try read(element(limit)) })
            #expect(Self.refused { try read(element(limit + 1)) })
        }
    }

    @Test func `a response that is too long is ignored`() throws {
        let padded = [UInt8](repeating: 0x30, count: OCSPResponse.maximumCount + 1)
        let alice = try Certificate(der: Person.alice.get().certificate)
        let response = OCSPResponse(der: padded)
        #expect(response.lifetime(about: alice, issuedBy: alice, at: .now) == nil)
    }

    @Test func `decompressed bytes for each compressed byte`() throws {
        // Random bytes do not compress, and zeros compress to a thousandth; mixing both yields the ratio.
        func message(ratio: Double) throws -> ByteStream {
            var generator = SystemRandomNumberGenerator()
            let noise = (0..<16_384).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let zeros = Int(Double(noise.count) * (ratio - 1) / (1 - ratio / 1029))
            let content = noise + [UInt8](repeating: 0, count: zeros)
            let sink = MemorySink()
            let writer = try CompressedDataWriter { try $0.write(content) }
            try writer.write(to: sink) { try $0.write(content) }
            return MemorySource(sink.bytes).stream()
        }
        func read(_ ratio: Double) throws {
            try CompressedData(reading: message(ratio: ratio)).content.makeReader().copy(to: CountingSink())
        }
        let limit = Double(CompressedData.maximumRatio)
        #expect(throws: Never.self) { try read(limit - 5) }
        #expect(Self.refused { try read(limit + 5) })
    }

    @Test func `iterations over a whole PKCS#12 file`() throws {
        func read(_ iterations: Int) throws {
            let bags = try [Bags.key("alice"), Bags.certificate("alice")]
            _ = try PKCS12(Bags.file(bags, macIterations: iterations), passphrase: Passphrase("test".utf8))
        }
        // The MAC is wrong, which is only noticed after all iterations.
        #expect(throws: CMSError.wrongPassphrase) { try read(PKCS12.maximumIterations) }
        #expect(Self.refused { try read(PKCS12.maximumIterations + 1) })
    }
}
