/// A message or a part of one: a header, a body and the parts in it, as places in a `ByteSource`.
///
/// Whatever a message says, its places are in order, and all that computes with them relies on it:
/// - `header.range` begins where `range` begins; `header.separatorRange` and then `bodyRange` follow it without a gap.
/// - `bodyRange` ends where `range` ends.
/// - The children lie inside `bodyRange` in ascending order. None overlaps the one before it.
///
/// The initializer makes it so, and is the only place that does: a part that begins at a delimiter of a multipart further out
/// would begin behind the end of the parts around it, because the line break in front of that delimiter belongs to the delimiter.
///
/// RFC 2045 §2.4
package struct Entity: Sendable {
    /// The header with its fields. Its ranges end where the entity ends, even if `header.bytes` have one more line end.
    package private(set) var header: HeaderBlock
    /// The range of header and body, without the line break before the next boundary.
    package private(set) var range: Range<Int>
    /// The range of the body.
    package private(set) var bodyRange: Range<Int>
    /// The type of the body; by default `text/plain`, or `message/rfc822` in a digest.
    package let contentType: ContentType
    /// How the body is encoded.
    package let transferEncoding: TransferEncoding
    /// The parts of a multipart, in order.
    package private(set) var children: [Entity]
    /// Whether a multipart has its closing delimiter; true for all else.
    package let isTerminated: Bool
    /// The defects of this entity, without those of its parts.
    package let defects: Set<MIMEDefect>

    /// An entity that begins with `header` and ends at `end`, or where it begins if `end` lies before that.
    init(
        header: HeaderBlock,
        end: Int,
        contentType: ContentType,
        transferEncoding: TransferEncoding,
        children: [Entity],
        isTerminated: Bool,
        defects: Set<MIMEDefect>
    ) {
        let start = header.range.lowerBound
        range = start..<max(start, end)
        self.header = header.clamped(to: range)
        bodyRange = self.header.separatorRange.upperBound..<range.upperBound
        self.contentType = contentType
        self.transferEncoding = transferEncoding
        self.children = children
        self.isTerminated = isTerminated
        self.defects = defects
        clampChildren()
    }

    /// How the part wants to be shown, and under what name (RFC 2183).
    package var disposition: ContentDisposition? {
        header.first("Content-Disposition").flatMap { ContentDisposition(field: $0) }
    }

    /// Moves the children inside the body, each after the one before it.
    private mutating func clampChildren() {
        var position = bodyRange.lowerBound
        for index in children.indices {
            children[index].clamp(to: position..<bodyRange.upperBound)
            position = children[index].range.upperBound
        }
    }

    private mutating func clamp(to place: Range<Int>) {
        guard range.clamped(to: place) != range else { return }
        header = header.clamped(to: place)
        range = range.clamped(to: place)
        bodyRange = bodyRange.clamped(to: place)
        clampChildren()
    }
}
