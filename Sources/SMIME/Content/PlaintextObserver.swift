import ByteStreams
import InternetMessage

/// Inspects plaintext while it is decrypted, before its integrity is verified: whether it begins like a MIME entity, and
/// whether it is clean text. The duration does not depend on the plaintext.
package final class PlaintextObserver: ByteSink {
    private var head: [UInt8] = []
    private var text: CleanText?

    /// The number of bytes from the start in which the header must end.
    private static let headLimit = MIMELimit.headerBytes.rawValue + 1024

    /// - Parameter checksText: whether all bytes are inspected, or only the start of the plaintext.
    package init(checksText: Bool) {
        text = checksText ? CleanText() : nil
    }

    package func write(_ bytes: Span<UInt8>) {
        // The end of the header is searched for later, because that takes a time that depends on the plaintext.
        head.append(contentsOf: bytes.extracting(first: Self.headLimit - head.count))
        text?.scan(bytes)
    }

    /// Whether the plaintext begins like an entity, with a header field or with the empty line. If all bytes are inspected,
    /// there must be no control characters either.
    var startsEntity: Bool {
        let (begins, isClean) = (EntityStart.canBegin(with: head), EntityControls.areAbsent(in: head))
        return begins && (isClean || text == nil)
    }

    /// Whether the whole plaintext is clean text; nil if that was not checked.
    package var isCleanText: Bool? { text?.isClean }

    /// The header at the start of the plaintext; nil if the header is longer than the limit. The duration depends on the
    /// plaintext, so callers must check the integrity first.
    var header: HeaderBlock? { try? HeaderBlock(parsing: head) }
}
