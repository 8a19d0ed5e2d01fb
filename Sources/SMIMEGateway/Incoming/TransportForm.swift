import ByteStreams
import InternetMessage

/// Converts a decrypted message to a form that mail servers accept: encrypted content may consist of any bytes (RFC 8551
/// §3.1), but mail has lines of at most 998 bytes, no NUL, and no single carriage returns or line feeds.
///
/// RFC 5322 §2.1.1, §2.3
enum TransportForm {
    /// The error if a message has no such form.
    struct Unsafe: Error {}

    /// The message in `source`, unchanged if mail servers accept it, otherwise with its parts encoded; nil if neither is
    /// possible.
    ///
    /// - Parameter isSigned: whether the message is inside a signature, which encoding would make invalid.
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
