/// A message or a part of one: a header, a body and the parts in it, as places in a `ByteSource`.
///
/// RFC 2045 §2.4
public struct Entity: Sendable {
    /// The header with its fields.
    public let header: HeaderBlock
    /// Where header and body lie; the line break before the next boundary is not of it.
    public let range: Range<Int>
    /// Where the body lies.
    public let bodyRange: Range<Int>
    /// What the body is; `text/plain`, or `message/rfc822` in a digest, where the header does not say.
    public let contentType: ContentType
    /// How the body is encoded.
    public let transferEncoding: TransferEncoding
    /// The parts of a multipart, in order.
    public let children: [Entity]
    /// Whether a multipart has its closing delimiter; true for all else.
    public let isTerminated: Bool
    /// What is wrong with this entity, the parts in it not counted.
    public let defects: Set<MIMEDefect>

    /// How the part wants to be shown, and under what name (RFC 2183).
    public var disposition: ContentDisposition? {
        header.first("Content-Disposition").flatMap { ContentDisposition(field: $0) }
    }
}
