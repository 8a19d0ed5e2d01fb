import ByteStreams
import InternetMessage

/// A message that was decrypted, in a form that mail servers pass on: encrypted content may be any bytes (RFC 8551 §3.1),
/// mail has lines of 998 bytes at most, without NUL, and no carriage return or line feed by itself.
///
/// RFC 5322 §2.1.1, §2.3
enum TransportForm {
    /// There is no such form of a message.
    struct Unsafe: Error {}

    /// The message in `source` as it is, if that may be, or with its parts encoded; nil if neither can be.
    ///
    /// - Parameter isSigned: whether a signature is around it that would not survive its being encoded.
    /// - Throws: what reading and writing throw.
    static func of(_ source: any ByteSource, isSigned: Bool) throws -> (any ByteSource)? {
        let statistics = try LineStatistics(of: source.reader())
        let isMixed = statistics.crlf > 0 && statistics.bareLF > 0
        guard statistics.hasNUL || statistics.bareCR > 0 || isMixed || statistics.longestLine > 998 else {
            return source
        }
        guard !isSigned else { return nil }
        let message = try MIMEReader.message(in: source)
        let form = try SevenBitEncoding(of: message, in: source)
        guard form.unsafeParts.isEmpty, form.unsafeMessages.isEmpty else { return nil }
        return try Spool.source { try form.write(to: $0) }
    }
}
