package import ByteStreams
package import PKIX
import SwiftASN1

/// An encrypted message that has been read as far as its recipients: EnvelopedData or AuthEnvelopedData.
///
/// Opening it takes two steps. `key(for:with:)` unwraps the content key of one recipient, and `check(with:observing:)`
/// runs over the whole message once; only what that returns can be read.
/// RFC 5652 §6, RFC 5083
package struct EnvelopedData: Sendable {
    /// How many recipients there may be.
    package static let maximumRecipients = EnvelopedLayout.maximumRecipients
    /// How much content is opened that has to be decrypted in one piece, in bytes.
    package static let maximumWholeContent = BufferedDecryption.maximumCount

    /// Every way in, in the order of the message.
    package let recipients: [RecipientInfo]
    /// Whether the structure is AuthEnvelopedData.
    package let isAuthenticated: Bool
    /// The content-encryption algorithm as `aes-256-gcm`, or its dotted OID.
    package let algorithm: String

    private let stream: ByteStream
    private let encryptionIdentifier: AlgorithmIdentifier

    /// Reads `stream` as far as the encrypted content.
    ///
    /// - Throws: `CMSError.malformed`, `CMSError.limitExceeded`, or what reading throws.
    package init(reading stream: ByteStream) throws {
        let layout = try reporting(.cms) { try EnvelopedLayout(BERReader(stream.makeReader())) }
        recipients = layout.recipients
        isAuthenticated = layout.isAuthenticated
        encryptionIdentifier = layout.encryption
        algorithm = ContentCipher(oid: layout.encryption.algorithm)?.name ?? "\(layout.encryption.algorithm)"
        self.stream = stream
    }

    /// The content-encryption key for `recipient`, unwrapped with its private key.
    ///
    /// A key that does not fit, or damaged bytes, are no error here: decryption then fails in the same way as for
    /// every other reason.
    ///
    /// - Throws: `CMSError.unsupported` for algorithms that have no row, and AEAD in the wrong structure.
    package func key(for recipient: RecipientInfo, with key: PrivateKey) throws -> ContentKey {
        let encryption = try contentEncryption()
        return try reporting(.cms) { try recipient.unwrap(with: key, keyCount: encryption.keyCount) }
    }

    /// The content-encryption key for `recipient`, unwrapped with a secret that both sides have.
    ///
    /// - Throws: as `key(for:with:)`, and `CMSError.limitExceeded` for a derivation that takes too long.
    package func key(for recipient: RecipientInfo, with secret: SharedSecret) throws -> ContentKey {
        let encryption = try contentEncryption()
        return try reporting(.cms) { try recipient.unwrap(with: secret, keyCount: encryption.keyCount) }
    }

    /// Decrypts everything once, keeps nothing, and says whether it was sound.
    ///
    /// - Parameter makeObserver: makes a sink that is shown the plaintext as it passes, to look at its structure; it
    ///   must let nothing out. It is called again if a second look is needed.
    /// - Returns: the checked content, and the sink that saw all of it.
    /// - Throws: `CMSError.decryptionFailed` for every fault of the message, `StreamError` if reading failed.
    package func check<Observer: ByteSink>(
        with key: ContentKey,
        observer makeObserver: () -> Observer
    ) throws -> (content: CheckedContent, observer: Observer) {
        let encryption = try contentEncryption()
        return try concealing {
            let observer = makeObserver()
            let first = try DecryptingReader(stream, encryption, key: key, attributes: nil)
            do {
                try first.copy(to: observer)
                return (CheckedContent(stream, encryption, key: key, attributes: nil), observer)
            } catch {
                // The attributes that the tag covers follow the content: only now they can be processed before it.
                guard let attributes = first.trailer?.authenticatedAttributes else { throw error }
                let observer = makeObserver()
                try DecryptingReader(stream, encryption, key: key, attributes: attributes).copy(to: observer)
                return (CheckedContent(stream, encryption, key: key, attributes: attributes), observer)
            }
        }
    }

    private func contentEncryption() throws -> ContentEncryption {
        let encryption = try reporting(.cms) { try ContentEncryption(encryptionIdentifier) }
        guard encryption.cipher.isAuthenticated == isAuthenticated else {
            throw CMSError.malformed(.cms, "\(encryption.cipher.name) in the wrong structure")
        }
        return encryption
    }
}
