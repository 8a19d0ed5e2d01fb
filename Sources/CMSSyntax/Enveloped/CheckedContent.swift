package import ByteStreams

/// Plaintext whose tag, or padding and structure, were verified. Encrypted content can only be read through this type.
///
/// The plaintext is not stored. Every reader decrypts the message again and verifies it again.
package struct CheckedContent: Sendable {
    private let source: ByteStream
    private let encryption: ContentEncryption
    private let key: ContentKey
    private let attributes: [UInt8]?

    /// Only `EnvelopedData.check` creates a value.
    init(_ source: ByteStream, _ encryption: ContentEncryption, key: ContentKey, attributes: [UInt8]?) {
        self.source = source
        self.encryption = encryption
        self.key = key
        self.attributes = attributes
    }

    /// The plaintext.
    package var stream: ByteStream {
        ByteStream { ConcealingReader(try DecryptingReader(source, encryption, key: key, attributes: attributes)) }
    }
}

/// Turns all errors about the message into the one error of decryption.
private final class ConcealingReader: ByteReader {
    private let upstream: DecryptingReader

    init(_ upstream: DecryptingReader) { self.upstream = upstream }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        try concealing { try upstream.read(into: &buffer) }
    }
}
