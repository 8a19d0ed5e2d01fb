import ByteStreams
import LibCrypto
import PKIX

/// Decrypts in one piece after reading the whole ciphertext and the tag, as CCM requires.
///
/// RFC 5084 §1.2; libcrypto: `EVP_CipherUpdate`, which may be called only once for CCM.
final class BufferedDecryption {
    private let encryption: ContentEncryption
    private let key: SecretBytes
    private var ciphertext: [UInt8] = []

    /// The maximum length of the content in bytes, which is held in memory.
    static let maximumCount = 8 << 20
    /// This error is not hidden behind `decryptionFailed`, because it reveals nothing about the key.
    static let tooLong = CMSError.limitExceeded("\(maximumCount >> 20) MiB of AES-CCM content")

    init(_ encryption: ContentEncryption, _ key: SecretBytes) {
        self.encryption = encryption
        self.key = key
    }

    /// Appends the next piece of the ciphertext.
    func append(_ bytes: Span<UInt8>) throws {
        guard ciphertext.count + bytes.count <= Self.maximumCount else { throw Self.tooLong }
        ciphertext.append(contentsOf: bytes)
    }

    /// The plaintext; throws an error if the tag does not match.
    func finish(tag: [UInt8], attributes: [UInt8]?) throws -> [UInt8] {
        let context = try encryption.makeContext(key, isEncrypting: false, tag: tag)
        try context.announce(count: ciphertext.count)
        if let attributes { try context.authenticate(attributes) }
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count)
        let ciphertext = ciphertext
        var output = plaintext.mutableOctets
        try context.updateOnce(ciphertext.octets, into: &output)
        return plaintext
    }
}
