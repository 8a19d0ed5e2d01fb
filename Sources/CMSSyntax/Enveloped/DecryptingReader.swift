package import ByteStreams
import LibCrypto
package import PKIX

/// Decrypts a message while it is read.
///
/// The end is only reached if the tag or the padding, and the structure after the content, are valid. Before that, callers
/// must not use or output the plaintext.
final class DecryptingReader: ByteReader {
    /// The elements after the content; nil before they were read.
    private(set) var trailer: EnvelopedLayout.Trailer?

    private let reader: BERReader
    private let layout: EnvelopedLayout
    private let ciphertext: OctetStringReader
    private let method: DecryptionMethod
    private let tagCount: Int
    private let attributes: [UInt8]?
    private let input = Window()
    private var pending: ArraySlice<UInt8> = []
    private var isAtEnd = false

    private enum DecryptionMethod {
        case streaming(CipherContext)
        case whole(BufferedDecryption)
    }

    /// The number of bytes by which the cipher's output may exceed its input.
    private static let slack = 64

    /// - Parameter pads: whether the content ends with padding, which is checked; CBC only.
    init(
        _ stream: ByteStream,
        _ encryption: ContentEncryption,
        key: ContentKey,
        attributes: [UInt8]?,
        pads: Bool = true
    ) throws {
        reader = BERReader(try stream.makeReader())
        layout = try EnvelopedLayout(reader, skipsRecipients: true)
        ciphertext = try OctetStringReader(reader, identifier: .context(0))
        tagCount = encryption.tagCount
        self.attributes = attributes
        if encryption.cipher.mode.needsWholeContent {
            method = .whole(BufferedDecryption(encryption, key.bytes))
        } else {
            let context = try encryption.makeContext(key.bytes, isEncrypting: false, pads: pads)
            if let attributes { try context.authenticate(attributes) }
            method = .streaming(context)
        }
    }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        guard buffer.count > 2 * Self.slack else { return try readPending(into: &buffer) }
        if !pending.isEmpty { return try readPending(into: &buffer) }
        while !isAtEnd {
            let (input, room) = (input, min(buffer.count - Self.slack, input.count))
            let count = try input.fill(0..<room, from: ciphertext)
            let written = count > 0 ? try update(input.prefix(count), into: &buffer) : try finish(into: &buffer)
            if written > 0 { return written }
        }
        return 0
    }

    /// Reads from `pending`. If that is empty, fills it first, because the caller's buffer is too small for the cipher.
    private func readPending(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        if pending.isEmpty {
            let window = Window(size: 4096)
            let first = Array(window.prefix(try window.fill(from: self)))
            // Content that is decrypted in one piece leaves its rest in `pending`.
            pending = (first + pending)[...]
        }
        let count = min(buffer.count, pending.count)
        let piece = pending.prefix(count)
        buffer.copy(piece.octets)
        pending.removeFirst(count)
        return count
    }

    private func update(_ input: Span<UInt8>, into buffer: inout MutableSpan<UInt8>) throws -> Int {
        switch method {
        case .streaming(let context): return try context.update(input, into: &buffer)
        case .whole(let decryption):
            try decryption.append(input)
            return 0
        }
    }

    private func finish(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        isAtEnd = true
        let trailer = try layout.readTrailer(reader)
        self.trailer = trailer
        if layout.isAuthenticated {
            // Only attributes that the cipher has authenticated together with the content may be used.
            guard trailer.tag.count == tagCount, trailer.authenticatedAttributes == attributes else {
                throw CMSError.decryptionFailed
            }
        }
        switch method {
        case .streaming(let context):
            if layout.isAuthenticated { try context.expectTag(trailer.tag) }
            return try context.finish(into: &buffer)
        case .whole(let decryption):
            pending = try decryption.finish(tag: trailer.tag, attributes: attributes)[...]
            return pending.isEmpty ? 0 : try readPending(into: &buffer)
        }
    }
}

/// Decrypts in one piece after reading the whole ciphertext and the tag, as CCM requires.
///
/// RFC 5084 §3.1; libcrypto: `EVP_CipherUpdate`, which may be called only once for CCM.
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

/// Plaintext whose tag, or padding and structure, were verified. Encrypted content can only be read through this type.
///
/// The plaintext is not stored. Every reader decrypts the message again and verifies it again. The exception is
/// the result of `EnvelopedData.substitute`, whose padding is not checked.
package struct CheckedContent: Sendable {
    private let source: ByteStream
    private let encryption: ContentEncryption
    private let key: ContentKey
    private let attributes: [UInt8]?
    /// Whether `EnvelopedData.check` failed, usually because of wrong padding, so that the content must not be used.
    package let isSubstitute: Bool
    /// Warnings about the encrypted object.
    package let problems: [Problem]

    /// Only `EnvelopedData` creates a value.
    init(
        _ source: ByteStream,
        _ encryption: ContentEncryption,
        key: ContentKey,
        attributes: [UInt8]?,
        isSubstitute: Bool = false,
        problems: [Problem] = []
    ) {
        self.source = source
        self.encryption = encryption
        self.key = key
        self.attributes = attributes
        self.isSubstitute = isSubstitute
        self.problems = problems
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

/// Turns errors about the message into the one error of decryption, as `concealing` does.
private final class ConcealingReader: ByteReader {
    private let upstream: DecryptingReader

    init(_ upstream: DecryptingReader) { self.upstream = upstream }

    func read(into buffer: inout MutableSpan<UInt8>) throws -> Int {
        try concealing { try upstream.read(into: &buffer) }
    }
}

/// Turns every error about a message, after a recipient was chosen, into the same error. `StreamError`s other than
/// `malformedBase64`, and the length limit of CCM, are not changed.
func concealing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch StreamError.malformedBase64 {
        throw CMSError.decryptionFailed
    } catch let error as StreamError {
        throw error
    } catch let error as CMSError where error == BufferedDecryption.tooLong {
        throw error
    } catch {
        throw CMSError.decryptionFailed
    }
}
