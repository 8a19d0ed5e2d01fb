import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// Variants of AuthEnvelopedData that this package does not write: CCM, short and long nonces, every tag length, attributes.
@Suite struct AuthenticatedCipherTests {
    private let alice: TestIdentity

    init() throws { alice = try TestIdentity("alice") }

    /// An AuthEnvelopedData for alice, assembled here around ciphertext from libcrypto.
    private struct Handmade {
        var cipher: ContentCipher
        var nonce = 12
        var tag = 16
        /// The tag length in the parameters; nil omits it.
        var announced: Int? = 16
        var attributes: [UInt8]?
        var unauthenticated: [UInt8] = []
        var content = sample(1000)
    }

    private func tlv(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let content = parts.flatMap { $0 }
        return [tag, 0x84] + withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0) } + content
    }

    private func message(_ made: Handmade) throws -> [UInt8] {
        let key = sample(made.cipher.keyCount)
        let nonce = Array(sample(made.nonce + 40).suffix(made.nonce))
        let secret = SecretBytes(copying: key)
        let info = try Recipient(unchecked: alice.certificate).recipientInfo(for: secret)
        let (ciphertext, tag) = try seal(made, key: secret, nonce: nonce)
        let algorithm = try identifier(made, nonce: nonce, tag: made.announced).encoded()
        let data: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
        let type: [UInt8] = [6, 11, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 16, 1, 23]
        let body = tlv(
            0x30,
            [2, 1, 0],
            tlv(0x31, info),
            tlv(0x30, data, algorithm, tlv(0x80, ciphertext)),
            made.attributes.map { tlv(0xA1, $0) } ?? [],
            tlv(0x04, tag),
            made.unauthenticated.isEmpty ? [] : tlv(0xA2, made.unauthenticated)
        )
        return tlv(0x30, type, tlv(0xA0, body))
    }

    private func identifier(_ made: Handmade, nonce: [UInt8], tag: Int?) -> AlgorithmIdentifier {
        let parameters = tlv(0x30, tlv(0x04, nonce), tag.map { [2, 1, UInt8($0)] } ?? [])
        return AlgorithmIdentifier(made.cipher.oid, parameters: parameters)
    }

    private func seal(
        _ made: Handmade,
        key: SecretBytes,
        nonce: [UInt8]
    ) throws -> (ciphertext: [UInt8], tag: [UInt8]) {
        let context = try ContentEncryption(identifier(made, nonce: nonce, tag: made.tag)).makeContext(
            key,
            isEncrypting: true
        )
        if made.cipher.name.hasSuffix("ccm") { try context.announce(count: made.content.count) }
        if let attributes = made.attributes { try context.authenticate([0x31, UInt8(attributes.count)] + attributes) }
        var output = [UInt8](repeating: 0, count: made.content.count)
        var bytes = output.mutableOctets
        try context.updateOnce(made.content.octets, into: &bytes)
        if !made.cipher.name.hasSuffix("ccm") {
            var rest = [UInt8](repeating: 0, count: 32)
            var room = rest.mutableOctets
            _ = try context.finish(into: &room)
        }
        return (output, try context.tag(count: made.tag))
    }

    private static let ccm = ["aes-128-ccm", "aes-192-ccm", "aes-256-ccm"]

    private func cipher(_ name: String) throws -> ContentCipher {
        try #require(ContentCipher.all.first { $0.name == name })
    }

    @Test(arguments: ccm, [7, 12, 13])
    func `CCM opens with every nonce and tag length`(name: String, nonce: Int) throws {
        for tag in [12, 14, 16] {
            for count in [0, 1, 16, 60_000] {
                let made = Handmade(
                    cipher: try cipher(name),
                    nonce: nonce,
                    tag: tag,
                    announced: tag == 12 ? nil : tag,
                    content: sample(count)
                )
                let sealed = try message(made)
                #expect(try decrypt(sealed, alice.certificate, alice.key) == sample(count))
                for position in [sealed.count - 1, sealed.count - tag - 6 - 1] where count > 0 {
                    var changed = sealed
                    changed[position] ^= 1
                    #expect(throws: CMSError.decryptionFailed) {
                        try decrypt(changed, alice.certificate, alice.key)
                    }
                }
            }
        }
    }

    @Test(arguments: ["aes-128-ccm", "aes-256-gcm"], [1, 28, 64, 128, 129, 4096, 5000])
    func `content is whole if its first bytes are skipped, or all are read in small pieces`(
        name: String,
        size: Int
    ) throws {
        let made = Handmade(cipher: try cipher(name), content: sample(10_000))
        let data = try EnvelopedData(reading: ByteStream(message(made)))
        let recipient = try #require(data.recipients.first)
        let stream = try data.check(with: data.key(for: recipient, with: alice.key)) { MemorySink() }.0.stream
        #expect(try stream.dropFirst(size).bytes() == Array(sample(10_000).dropFirst(size)))
        let (reader, window) = (try stream.makeReader(), Window(size: size))
        var pieces: [UInt8] = []
        while case let count = try window.fill(from: reader), count > 0 {
            pieces.append(contentsOf: window.prefix(count))
        }
        #expect(pieces == sample(10_000))
    }

    @Test func `CCM content over 8 MiB is refused with an error that names it`() throws {
        var made = Handmade(cipher: try cipher("aes-128-ccm"))
        made.content = [UInt8](repeating: 1, count: 8 << 20)
        #expect(try decrypt(message(made), alice.certificate, alice.key).count == 8 << 20)
        made.content.append(1)
        #expect(throws: CMSError.limitExceeded("8 MiB of AES-CCM content")) {
            try decrypt(message(made), alice.certificate, alice.key)
        }
    }

    @Test(arguments: [1, 7, 8, 11, 12, 13, 16, 32, 128])
    func `GCM opens with nonces of any length`(nonce: Int) throws {
        let made = Handmade(cipher: .aes256GCM, nonce: nonce)
        #expect(try decrypt(message(made), alice.certificate, alice.key) == sample(1000))
    }

    @Test(arguments: 12...16)
    func `GCM opens with tags of 12 to 16 octets, 12 by default`(tag: Int) throws {
        for announced in tag == 12 ? [nil, 12] : [tag] {
            let made = Handmade(cipher: .aes128GCM, tag: tag, announced: announced)
            #expect(try decrypt(message(made), alice.certificate, alice.key) == sample(1000))
        }
    }

    @Test(arguments: ["aes-256-gcm", "aes-256-ccm"], [4, 8, 10, 11, 17])
    func `short tags and impossible ones are malformed`(name: String, tag: Int) throws {
        let made = Handmade(cipher: try cipher(name), tag: 16, announced: tag)
        #expect(throws: CMSError.malformed(.cms, "\(name) parameters")) {
            try decrypt(message(made), alice.certificate, alice.key)
        }
    }

    @Test func `a tag of a length other than announced is refused`() throws {
        for (tag, announced) in [(12, 16), (16, 12), (13, 12), (16, nil)] as [(Int, Int?)] {
            let made = Handmade(cipher: .aes256GCM, tag: tag, announced: announced)
            #expect(throws: CMSError.decryptionFailed) { try decrypt(message(made), alice.certificate, alice.key) }
        }
    }

    /// contentType with id-data, and an unknown attribute.
    private static let attributes: [UInt8] =
        [0x30, 0x18, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 3, 0x31, 0x0B]
        + [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]

    @Test(arguments: ["aes-256-gcm", "aes-128-ccm"])
    func `attributes are authenticated, and others are not`(name: String) throws {
        let made = Handmade(
            cipher: try cipher(name),
            attributes: Self.attributes,
            unauthenticated: [0x30, 0x06, 6, 2, 0x2A, 3, 0x31, 0]
        )
        let sealed = try message(made)
        #expect(try decrypt(sealed, alice.certificate, alice.key) == sample(1000))
        let position = try #require(sealed.lastRange(of: Self.attributes)?.upperBound)
        var changed = sealed
        changed[position - 1] = 2
        #expect(throws: CMSError.decryptionFailed) { try decrypt(changed, alice.certificate, alice.key) }
        let other = try #require(sealed.lastRange(of: [6, 2, 0x2A, 3])?.upperBound)
        changed = sealed
        changed[other - 1] = 4
        #expect(try decrypt(changed, alice.certificate, alice.key) == sample(1000))
    }

    @Test func `an attribute inserted afterwards prevents decryption`() throws {
        var made = Handmade(cipher: .aes256GCM)
        let sealed = try message(made)
        made.attributes = Self.attributes
        let with = try message(made)
        // The message with attributes gets the tag of the one without.
        let forged = Array(with.dropLast(16)) + sealed.suffix(16)
        #expect(throws: CMSError.decryptionFailed) { try decrypt(forged, alice.certificate, alice.key) }
    }
}

extension [UInt8] {
    fileprivate func lastRange(of part: [UInt8]) -> Range<Int>? { ranges(of: part).last }
}
