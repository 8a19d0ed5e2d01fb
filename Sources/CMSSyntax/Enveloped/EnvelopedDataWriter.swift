package import ByteStreams
import LibCrypto
import PKIX
import SwiftASN1

/// Writes EnvelopedData (CBC) or AuthEnvelopedData (the other modes) in DER around content of a known length.
///
/// RFC 5652 §6.1, RFC 5083 §2.1
package struct EnvelopedDataWriter {
    private let encryption: ContentEncryption
    private let key: SecretBytes
    private let frame: DERFrame

    /// The length of the whole structure in bytes.
    package var count: Int { frame.count }

    /// Generates a content-encryption key, wraps it for every recipient, and determines the layout of the structure.
    ///
    /// - Parameters:
    ///   - secrets: shared secrets that can decrypt the message, in addition to the recipients' keys.
    ///   - contentCount: the exact number of plaintext bytes.
    /// - Throws: `CMSError.unsupported` for a key or cipher that cannot be used to encrypt, and if there are neither recipients
    ///   nor secrets; `CMSError.openSSL`.
    package init(
        to recipients: [Recipient],
        secrets: [SharedSecret] = [],
        cipher: ContentCipher,
        contentCount: Int
    ) throws {
        guard cipher.isWritable else { throw CMSError.unsupported("writing \(cipher.name)") }
        guard !recipients.isEmpty || !secrets.isEmpty else {
            throw CMSError.unsupported("encryption without recipients")
        }
        let secrets = secrets + recipients.compactMap(\.secret)
        let certified = recipients.filter { $0.secret == nil }
        encryption = try ContentEncryption(writing: cipher)
        key = try SecretBytes.random(count: encryption.keyCount)
        let (key, encryption) = (key, encryption)
        frame = try reporting(.cms) {
            let infos =
                try certified.map { try $0.recipientInfo(for: key) } + secrets.map { try $0.recipientInfo(for: key) }
            let version = encryption.cipher.isAuthenticated ? 0 : Self.version(certified, secrets)
            let sorted = infos.sorted { $0.lexicographicallyPrecedes($1) }
            return try Self.layOut(sorted, version: version, encryption, contentCount: contentCount)
        }
    }

    /// Writes the structure around the plaintext that `content` writes. The plaintext must have exactly the announced length.
    ///
    /// - Throws: `StreamError.changedWhileReading` if the length of the ciphertext differs from the announced one; errors that
    ///   `content` and `sink` throw.
    package func write(to sink: any ByteSink, content: (any ByteSink) throws -> Void) throws {
        try sink.write(frame.prefix)
        let encryptor = EncryptingSink(
            try reporting(.cms) { try encryption.makeContext(key, isEncrypting: true) },
            sink
        )
        try content(encryptor)
        try encryptor.finish()
        guard encryptor.count == frame.contentCount else { throw StreamError.changedWhileReading }
        // The layout has zeros in place of the tag, which is at the very end.
        let tag = try reporting(.cms) { try encryptor.context.tag(count: encryption.tagCount) }
        try sink.write(frame.suffix.dropLast(tag.count) + tag)
    }

    /// The version of EnvelopedData (RFC 5652 §6.1): 3 if there is a password or an OtherRecipientInfo; otherwise 2 if there
    /// is a RecipientInfo of a version other than 0.
    private static func version(_ recipients: [Recipient], _ secrets: [SharedSecret]) -> Int {
        let hasPassword = secrets.contains { if case .password = $0.kind { true } else { false } }
        guard !hasPassword, !recipients.contains(where: \.isOther) else { return 3 }
        let isPlain = recipients.allSatisfy { recipient in
            if case .rsa = recipient.certificate?.publicKeyAlgorithm { return !recipient.isNamedByKeyIdentifier }
            return false
        }
        return isPlain && secrets.isEmpty ? 0 : 2
    }

    private static func layOut(
        _ infos: [[UInt8]],
        version: Int,
        _ encryption: ContentEncryption,
        contentCount: Int
    ) throws -> DERFrame {
        let isAuthenticated = encryption.cipher.isAuthenticated
        let block = encryption.cipher.ivCount
        let ciphertextCount = isAuthenticated ? contentCount : (contentCount / block + 1) * block
        let contentInfo = try der { coder in
            try coder.serialize(ASN1ObjectIdentifier.ContentType.data)
            try coder.serialize(encryption.identifier)
        }
        var frame = DERFrame(.context(0), contentCount: ciphertextCount)
        frame.wrap(.sequence, before: contentInfo)

        let infoCount = infos.reduce(0) { $0 + $1.count }
        let version = try der { try $0.serialize(version) }
        let set = DERFrame.header(.set, isConstructed: true, length: infoCount) + infos.flatMap { $0 }
        let mac = DERFrame.header(.octetString, isConstructed: false, length: encryption.tagCount)
        let trailer = isAuthenticated ? mac + [UInt8](repeating: 0, count: encryption.tagCount) : []
        frame.wrap(.sequence, before: version + set, after: trailer)
        frame.wrap(.context(0))
        let type =
            isAuthenticated
            ? ASN1ObjectIdentifier.ContentType.authEnvelopedData : ASN1ObjectIdentifier.ContentType.envelopedData
        frame.wrap(.sequence, before: try der { try $0.serialize(type) })
        return frame
    }
}

/// Encrypts the bytes written to it, one window after the other.
private final class EncryptingSink: ByteSink {
    let context: CipherContext
    /// The number of bytes of ciphertext.
    private(set) var count = 0
    private let downstream: any ByteSink
    private let output = Window(size: Window.size + 64)

    init(_ context: CipherContext, _ downstream: any ByteSink) {
        self.context = context
        self.downstream = downstream
    }

    func write(_ bytes: Span<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.extracting(first: Window.size)
            try passOn(try reporting(.cms) { try update(piece) })
            rest = rest.extracting(droppingFirst: piece.count)
        }
    }

    func finish() throws {
        let produced = try reporting(.cms) {
            let output = output
            var room = output.bytes
            return try context.finish(into: &room)
        }
        try passOn(produced)
    }

    private func update(_ piece: Span<UInt8>) throws -> Int {
        let output = output
        var room = output.bytes
        return try context.update(piece, into: &room)
    }

    private func passOn(_ produced: Int) throws {
        let output = output
        count += produced
        if produced > 0 { try downstream.write(output.prefix(produced)) }
    }
}
