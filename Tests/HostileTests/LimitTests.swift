import CMS
import Foundation
import MIME
import SMIME
import Streams
import TestSupport
import Testing

/// Every limit of docs/limits.md: what is at the limit passes, one more is refused.
@Suite struct LimitTests {
    private static func refused(_ body: () throws -> Void) -> Bool {
        do { try body() } catch {
            switch error {
            case CMSError.limitExceeded, MIMEError.limitExceeded, SMIMEError.tooManyLayers: return true
            default: return false
            }
        }
        return false
    }

    /// The page and the code give the same numbers.
    @Test func `the page of limits says what the code does`() throws {
        let page = try String(contentsOf: Fixtures.root.appending(path: "docs/limits.md"), encoding: .utf8)
        let rows: [(String, Int)] = [
            ("multiparts inside each other", MIMELimit.depth.rawValue),
            ("parts of a message", MIMELimit.parts.rawValue),
            ("bytes of a header", MIMELimit.headerBytes.rawValue),
            ("bytes of all headers", MIMELimit.totalHeaderBytes.rawValue),
            ("addresses in a field", MIMELimit.addresses.rawValue), ("S/MIME layers", MessageOpener.maximumLayers),
            ("certificates in a CMS object", SignedData.maximumCertificates), ("signers", SignedData.maximumSigners),
            ("recipients", EnvelopedData.maximumRecipients),
            ("certificates in a PKCS#12 file", PKCS12.maximumCertificates),
        ]
        for (name, value) in rows { #expect(page.contains("| \(name) | \(value) |"), "\(name) \(value)") }
    }

    private func multipart(depth: Int) -> [UInt8] {
        var text = ""
        for level in 0..<depth { text += "Content-Type: multipart/mixed; boundary=b\(level)x\r\n\r\n--b\(level)x\r\n" }
        return Array((text + "\r\nhi\r\n").utf8)
    }

    @Test func `multiparts inside each other`() {
        let limit = MIMELimit.depth.rawValue
        #expect(throws: Never.self) { try MIMEReader.message(in: MemorySource(multipart(depth: limit))) }
        #expect(Self.refused { _ = try MIMEReader.message(in: MemorySource(multipart(depth: limit + 1))) })
    }

    @Test func `parts of a message`() {
        func message(_ count: Int) -> MemorySource {
            // The message itself counts as one.
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
        let opener = try Keys.opener()
        let sink = MemorySink()
        try await opener.decrypt(message(8)).write(to: sink)
        #expect(!sink.bytes.isEmpty)
        await #expect(throws: SMIMEError.tooManyLayers) { try await opener.decrypt(message(9)) }
    }

    @Test func `depth of ASN.1`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            (0..<depth).reduce(TLV.null) { element, _ in TLV.sequence(element) }
        }
        func signed(_ depth: Int) throws -> SignedData {
            // ContentInfo, [0], SignedData, SET, SignerInfo, [1], Attribute, SET stand around it.
            var forge = SignedForge(MailForge.text, by: try Person.alice.get(), isDetached: false)
            forge.signers[0].unsignedAttributes = [Attributes.make("1.2.3.4.5", nested(depth))]
            return try SignedData(reading: MemorySource(try forge.encoded()).stream())
        }
        #expect(try signed(30).signers.count == 1)
        // At the limit, and one more; the innermost one is no constructed element.
        #expect(throws: Never.self) { try ElementExtent(of: nested(ElementExtent.maximumDepth)) }
        #expect(Self.refused { _ = try ElementExtent(of: nested(ElementExtent.maximumDepth + 1)) })
        #expect(throws: CMSError.self) { try signed(49) }
        #expect(throws: CMSError.self) { try signed(2000) }
    }
}
