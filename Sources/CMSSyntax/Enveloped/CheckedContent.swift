package import ByteStreams

/// Plaintext whose tag, or padding and structure, were verified. Encrypted content can only be read through this type.
///
/// The plaintext is not stored. Every reader decrypts the message again and verifies it again. The padding of a substitute
/// was wrong; see `EnvelopedData.substitute`.
package struct CheckedContent: Sendable {
    private let source: ByteStream
    private let encryption: ContentEncryption
    private let key: ContentKey
    private let attributes: [UInt8]?
    /// Whether the padding was wrong, so that the content must not be used.
    package let isSubstitute: Bool

    /// Only `EnvelopedData` creates a value.
    init(
        _ source: ByteStream,
        _ encryption: ContentEncryption,
        key: ContentKey,
        attributes: [UInt8]?,
        isSubstitute: Bool = false
    ) {
        self.source = source
        self.encryption = encryption
        self.key = key
        self.attributes = attributes
        self.isSubstitute = isSubstitute
    }

    /// The plaintext.
    package var stream: ByteStream {
        ByteStream {
            ConcealingReader(
                try DecryptingReader(source, encryption, key: key, attributes: attributes, pads: !isSubstitute)
            )
        }
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
