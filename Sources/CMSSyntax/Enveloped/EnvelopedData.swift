package import ByteStreams
package import PKIX
import SwiftASN1

/// An EnvelopedData or AuthEnvelopedData, read up to the encrypted content.
///
/// Decryption takes two steps. `key(for:with:)` unwraps the content-encryption key of one recipient. `check(with:observer:)`
/// decrypts the whole message once; its result is the only way to read verified plaintext.
///
/// RFC 5652 §6, RFC 5083
package struct EnvelopedData: Sendable {
    /// The maximum number of recipients.
    package static let maximumRecipients = EnvelopedLayout.maximumRecipients
    /// The maximum length in bytes of content that must be decrypted in one piece.
    package static let maximumWholeContent = BufferedDecryption.maximumCount

    /// The recipients, in the order of the message.
    package let recipients: [RecipientInfo]
    /// Whether the structure is AuthEnvelopedData.
    package let isAuthenticated: Bool
    /// The name of the content-encryption algorithm, such as `aes-256-gcm`, or its dotted OID.
    package let algorithm: String
    /// Whether the cipher is only used to read old mail.
    package var hasHistoricCipher: Bool {
        ContentCipher(oid: encryptionIdentifier.algorithm)?.isHistoric ?? false
    }

    private let stream: ByteStream
    private let encryptionIdentifier: AlgorithmIdentifier

    /// Reads `stream` up to the encrypted content.
    ///
    /// - Throws: `CMSError.malformed`, `CMSError.limitExceeded`, and errors of reading.
    package init(reading stream: ByteStream) throws {
        let layout = try reporting(.cms) { try EnvelopedLayout(BERReader(stream.makeReader())) }
        recipients = layout.recipients
        isAuthenticated = layout.isAuthenticated
        encryptionIdentifier = layout.encryption
        algorithm = ContentCipher(oid: layout.encryption.algorithm)?.name ?? "\(layout.encryption.algorithm)"
        self.stream = stream
    }

    /// Unwraps the content-encryption key of `recipient` with the private key `key`.
    ///
    /// A wrong key or damaged bytes cause no error here. Decryption then fails with the same error as for every other reason.
    ///
    /// - Throws: `CMSError.unsupported` for unknown algorithms and for recipients without a certificate; `CMSError.malformed`
    ///   if the cipher's parameters are invalid or the cipher belongs in the other structure.
    package func key(for recipient: RecipientInfo, with key: PrivateKey) throws -> ContentKey {
        let encryption = try contentEncryption()
        return try reporting(.cms) { try recipient.unwrap(with: key, keyCount: encryption.keyCount) }
    }

    /// Unwraps the content-encryption key of `recipient` with a shared secret.
    ///
    /// - Throws: `CMSError.unsupported` for unknown algorithms, and for a recipient of another kind than the secret;
    ///   `CMSError.malformed` if the cipher's parameters are invalid or the cipher belongs in the other structure;
    ///   `CMSError.limitExceeded` for a derivation that takes too long; `CMSError.openSSL`.
    package func key(for recipient: RecipientInfo, with secret: SharedSecret) throws -> ContentKey {
        let encryption = try contentEncryption()
        return try reporting(.cms) { try recipient.unwrap(with: secret, keyCount: encryption.keyCount) }
    }

    /// Decrypts the whole message once to verify it. The plaintext is not stored.
    ///
    /// - Parameter makeObserver: makes a sink that inspects the plaintext while it is decrypted. The sink must not output it.
    ///   A second sink is made if a second pass is needed.
    /// - Returns: the verified content, and the sink that received all of the plaintext.
    /// - Throws: `CMSError.decryptionFailed` for every fault of the encrypted content, `.limitExceeded` for AES-CCM content
    ///   that is too long, `StreamError` if reading failed, and the errors of `key(for:with:)`.
    package func check<Observer: ByteSink>(
        with key: ContentKey,
        observer makeObserver: () -> Observer
    ) throws -> (content: CheckedContent, observer: Observer) {
        let encryption = try contentEncryption()
        return try concealing {
            let observer = makeObserver()
            let first = try DecryptingReader(stream, encryption, key: key, attributes: nil)
            var problems: [Problem] { first.trailer?.problems ?? [] }
            do {
                try first.copy(to: observer)
                return (CheckedContent(stream, encryption, key: key, attributes: nil, problems: problems), observer)
            } catch {
                // The attributes that the tag covers follow the content, but must be processed before it. This is possible
                // only in a second pass.
                guard let attributes = first.trailer?.authenticatedAttributes else { throw error }
                let observer = makeObserver()
                try DecryptingReader(stream, encryption, key: key, attributes: attributes).copy(to: observer)
                let content = CheckedContent(stream, encryption, key: key, attributes: attributes, problems: problems)
                return (content, observer)
            }
        }
    }

    /// CBC content for which `check` failed, read as if it had no padding.
    ///
    /// If the program stopped at wrong padding, its run time would show whether the padding was right. From many such
    /// answers an attacker learns the content byte by byte (Vaudenay's padding oracle). So the caller processes the
    /// substitute like checked content, and then fails with `CMSError.decryptionFailed`. The content must not be output.
    ///
    /// - Throws: `CMSError.decryptionFailed` for authenticated content.
    package func substitute(with key: ContentKey) throws -> CheckedContent {
        guard !isAuthenticated else { throw CMSError.decryptionFailed }
        return CheckedContent(stream, try contentEncryption(), key: key, attributes: nil, isSubstitute: true)
    }

    private func contentEncryption() throws -> ContentEncryption {
        let encryption = try reporting(.cms) { try ContentEncryption(encryptionIdentifier) }
        guard encryption.cipher.isAuthenticated == isAuthenticated else {
            throw CMSError.malformed(.cms, "\(encryption.cipher.name) in the wrong structure")
        }
        return encryption
    }
}

/// The parts of EnvelopedData and AuthEnvelopedData around the encrypted content.
///
/// RFC 5652 §6.1, RFC 5083 §2.1
struct EnvelopedLayout {
    let isAuthenticated: Bool
    let recipients: [RecipientInfo]
    let encryption: AlgorithmIdentifier

    /// Reads everything before the encrypted content, which `reader` returns next.
    ///
    /// - Parameter skipsRecipients: whether to skip the recipients, because they were already read.
    init(_ reader: BERReader, skipsRecipients: Bool = false) throws {
        try reader.enter(.sequence)
        let type = try ASN1ObjectIdentifier(berEncoded: reader.readNode())
        switch type {
        case ASN1ObjectIdentifier.ContentType.envelopedData: isAuthenticated = false
        case ASN1ObjectIdentifier.ContentType.authEnvelopedData: isAuthenticated = true
        default: throw CMSError.malformed(.cms, "not an encrypted message")
        }
        try reader.enter(.context(0))
        try reader.enter(.sequence)
        _ = try Int(berEncoded: reader.readNode())
        _ = try reader.readNode(if: .context(0))
        recipients = skipsRecipients ? [] : try Self.recipients(reader)
        if skipsRecipients { try reader.skipElement() }
        try reader.enter(.sequence)
        _ = try ASN1ObjectIdentifier(berEncoded: reader.readNode())
        encryption = try AlgorithmIdentifier(berEncoded: reader.readNode())
        guard try reader.peek()?.identifier == .context(0) else {
            throw CMSError.malformed(.cms, "no encrypted content")
        }
    }

    /// The maximum number of recipients.
    static let maximumRecipients = 20_000
    /// The maximum number of bytes, and of ASN.1 elements, of all recipients together. A single RecipientInfo can be large
    /// without naming a recipient.
    private static let maximumBytes = 32 << 20
    private static let maximumElements = 1_000_000

    private static func recipients(_ reader: BERReader) throws -> [RecipientInfo] {
        var recipients: [RecipientInfo] = []
        var (bytesLeft, elementsLeft) = (maximumBytes, maximumElements)
        try reader.enter(.set)
        while try reader.peek() != nil {
            let encoded = try reader.readElement()
            bytesLeft -= encoded.count
            elementsLeft -= try ElementExtent(of: encoded).elements
            guard bytesLeft >= 0, elementsLeft >= 0 else { throw CMSError.limitExceeded("the size of the recipients") }
            recipients += try RecipientInfo.read(ASN1Node.read(encoded))
            guard recipients.count <= maximumRecipients else {
                throw CMSError.limitExceeded("\(maximumRecipients) recipients")
            }
        }
        try reader.leave()
        guard !recipients.isEmpty else { throw CMSError.malformed(.cms, "no recipients") }
        return recipients
    }

    /// The elements after the encrypted content.
    struct Trailer {
        /// The authenticated attributes in the encoding that the cipher authenticates: DER (RFC 5083 §2.2); nil if there are
        /// none.
        var authenticatedAttributes: [UInt8]?
        var tag: [UInt8] = []
        /// Warnings about the end of the object.
        var problems: [Problem] = []
    }

    /// Reads everything after the encrypted content, to the end of the object.
    func readTrailer(_ reader: BERReader) throws -> Trailer {
        var trailer = Trailer()
        try reader.leave()
        if isAuthenticated {
            if let node = try reader.readNode(if: .context(1)) {
                let attributes = try node.children(expecting: .context(1)).map { try Attribute(berEncoded: $0) }
                trailer.authenticatedAttributes = try attributes.derSet()
            }
            trailer.tag = Array(try ASN1OctetString(berEncoded: reader.readNode()).bytes)
            _ = try reader.readNode(if: .context(2))
        } else {
            _ = try reader.readNode(if: .context(1))
        }
        for _ in 0..<3 { try reader.leave() }
        if try !reader.isExhausted() {
            trailer.problems = [Problem(.trailingBytes, "bytes follow the encrypted object")]
        }
        return trailer
    }
}
