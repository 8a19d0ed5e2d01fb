import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// Which messages are treated as already encrypted, and for which recipients.
@Suite struct ExistingLayerTests {
    private static let cbc: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2A]
    private static let gcm: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2E]
    private static let tripleDES: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x03, 0x07]

    private static func tlv(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap(\.self)
        guard content.count > 127 else { return [tag, UInt8(content.count)] + content }
        let length = [content.count >> 16, content.count >> 8, content.count].map { UInt8(truncatingIfNeeded: $0) }
        return [tag, 0x83] + length + content
    }

    private static func certificate(_ name: String) throws -> Certificate {
        for case .certificate(let found) in try KeyMaterial.read(Fixtures.cert("\(name)/cert.pem")) { return found }
        throw CocoaError(.fileReadCorruptFile)
    }

    /// Random bytes, like those of a cipher.
    private static func random(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(count)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// A message for `name` that claims to be encrypted with the cipher `oid`.
    private static func message(
        _ oid: [UInt8],
        content: [UInt8],
        tag: [UInt8]? = nil,
        isAuthenticated: Bool = false,
        iv: [UInt8]? = nil,
        for name: String = "bob",
        byKeyIdentifier: Bool = false
    ) throws -> [UInt8] {
        let bob = try certificate(name)
        let named: [UInt8] =
            byKeyIdentifier
            ? tlv(0x80, try #require(bob.subjectKeyIdentifier))
            : tlv(0x30, bob.issuer.der, tlv(0x02, bob.serialNumber))
        let rsa = tlv(0x30, tlv(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]), [5, 0])
        let recipient = tlv(0x30, [2, 1, 0], named, rsa, tlv(0x04, random(256)))
        let parameters = iv ?? (oid == gcm ? tlv(0x30, tlv(0x04, random(12)), [2, 1, 16]) : tlv(0x04, random(16)))
        let info = tlv(
            0x30,
            tlv(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]),
            tlv(0x30, tlv(0x06, oid), parameters),
            tlv(0x80, content)
        )
        let type: [UInt8] =
            isAuthenticated
            ? [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x10, 0x01, 0x17]
            : [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x03]
        let body = tlv(0x30, [2, 1, 0], tlv(0x31, recipient), info, tag.map { tlv(0x04, $0) } ?? [])
        return tlv(0x30, tlv(0x06, type), tlv(0xA0, body))
    }

    private func layer(_ der: [UInt8]) throws -> ExistingLayer {
        let header = "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n"
        let text = header + "Content-Transfer-Encoding: base64\r\n\r\n" + Data(der).base64EncodedString() + "\r\n"
        let source = MemorySource(Array(text.utf8))
        return try ExistingLayer(of: MIMEReader.message(in: source), in: source)
    }

    @Test func `a well-formed ciphertext counts as encrypted for the recipients it names`() throws {
        let bob = try Self.certificate("bob")
        let carol = try Self.certificate("carol")
        for der in [
            try Self.message(Self.cbc, content: Self.random(160)),
            try Self.message(Self.cbc, content: Self.random(16), byKeyIdentifier: true),
            try Self.message(Self.gcm, content: Self.random(1001), tag: Self.random(16), isAuthenticated: true),
            try Self.message(Self.gcm, content: Self.random(1), tag: Self.random(16), isAuthenticated: true),
            try Self.message(Self.cbc, content: Self.random(2_000_000 / 16 * 16)),
        ] {
            let found = try layer(der)
            #expect(found.protection == .encrypted && !found.hasHistoricCipher)
            #expect(found.isEncrypted(for: bob) && !found.isEncrypted(for: carol))
        }
        let old = try layer(Self.message(Self.tripleDES, content: Self.random(24), iv: Self.tlv(0x04, Self.random(8))))
        #expect(old.protection == .encrypted && old.hasHistoricCipher)
    }

    @Test func `content that is no possible ciphertext does not count as encrypted`() throws {
        let (tag, blocks) = (Self.random(16), Self.random(160))
        let text = Array("Content-Type: text/plain\r\n\r\nMeet me at eight, at the usual place, and bring it.\r\n".utf8)
        let utf16 = [UInt8](String(repeating: "Grüße ", count: 50).utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        let cyrillic = Array(String(repeating: "Встретимся в восемь. ", count: 20).utf8)
        for (name, der) in [
            ("no whole blocks", try Self.message(Self.cbc, content: Self.random(161))),
            ("no content", try Self.message(Self.cbc, content: [])),
            ("CBC vector of 8 bytes", try Self.message(Self.cbc, content: blocks, iv: Self.tlv(0x04, Self.random(8)))),
            ("no parameters", try Self.message(Self.cbc, content: blocks, iv: [5, 0])),
            ("no tag", try Self.message(Self.gcm, content: blocks, isAuthenticated: true)),
            ("short tag", try Self.message(Self.gcm, content: blocks, tag: Self.random(4), isAuthenticated: true)),
            ("GCM in EnvelopedData", try Self.message(Self.gcm, content: blocks)),
            ("CBC in AuthEnvelopedData", try Self.message(Self.cbc, content: blocks, tag: tag, isAuthenticated: true)),
            ("text", try Self.message(Self.gcm, content: text, tag: tag, isAuthenticated: true)),
            ("text in blocks", try Self.message(Self.cbc, content: Array(text.prefix(64)))),
            ("little text", try Self.message(Self.cbc, content: Array("Meet me at eight".utf8))),
            ("text before bytes", try Self.message(Self.gcm, content: text + blocks, tag: tag, isAuthenticated: true)),
            ("text behind bytes", try Self.message(Self.gcm, content: blocks + text, tag: tag, isAuthenticated: true)),
            ("UTF-16", try Self.message(Self.gcm, content: utf16, tag: tag, isAuthenticated: true)),
            ("Cyrillic", try Self.message(Self.gcm, content: cyrillic, tag: tag, isAuthenticated: true)),
            ("zeros", try Self.message(Self.cbc, content: [UInt8](repeating: 0, count: 4096))),
        ] {
            #expect(try layer(der).protection == .unprotected, "\(name)")
        }
    }

    @Test func `random bytes are not taken for a text message`() {
        for seed in 0..<2_000 {
            var generator = SeededGenerator(seed)
            let detector = PlaintextDetector()
            let count = Int.random(in: 16...2_000, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // In pieces, as when reading a file.
            let middle = Int.random(in: 0...count, using: &generator)
            for piece in [bytes[..<middle], bytes[middle...]] { detector.write(piece.octets) }
            #expect(!detector.isPlaintext)
        }
    }
}
