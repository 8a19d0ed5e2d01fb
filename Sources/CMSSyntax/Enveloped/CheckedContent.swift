package import ByteStreams

/// Plaintext whose tag, or padding and structure, was found right: the only way to read what was encrypted.
///
/// Nothing of it is kept; every reader decrypts the message anew, and checks it again.
package struct CheckedContent: Sendable {
    private let source: ByteStream
    private let encryption: ContentEncryption
    private let key: ContentKey
    private let attributes: [UInt8]?

    /// Only `EnvelopedData.check` makes one.
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

/// Lets only the one error of decryption through.
private final class ConcealingReader: ByteReader {
    private let upstream: DecryptingReader

    init(_ upstream: DecryptingReader) { self.upstream = upstream }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        try concealing { try upstream.read(into: &buffer) }
    }
}
