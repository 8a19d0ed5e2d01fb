package import ByteStreams

/// An entity in the form in which it can be sent anywhere: canonical line ends, 7-bit, short lines, and
/// nothing that a transport would change.
///
/// Parts that need it get another transfer encoding: text quoted-printable or, where that is shorter, base64, and all else
/// base64. Their content stays the same. Fields of parts are written in seven bits. A message whose header is not ASCII may not be encoded as long
/// as it is message/rfc822 (RFC 2046 §5.2.1), so it becomes message/global in base64, which is made for such messages
/// (RFC 6532 §3.7). Everything else passes byte for byte. The form can be written as often as needed and is the same
/// each time.
///
/// RFC 2045 §2.7, §6, RFC 2049 §4
package struct SevenBitEncoding: Sendable {
    /// Whether anything but line ends has to change.
    package let needsEncoding: Bool
    /// The parts that are not safe and cannot be made so, for want of an encoding that may or can be changed.
    package let unsafeParts: [Range<Int>]
    /// The messages among the parts whose header is neither ASCII nor UTF-8, so that no form of them is safe.
    package let unsafeMessages: [Range<Int>]

    /// Whether `viewer` was given the form while the entity was looked through, every byte of it and no other.
    package let wasShown: Bool

    /// Makes a header, its empty line included.
    package typealias Header = (TransferEncoding?) -> [UInt8]

    private let source: any ByteSource
    private let pieces: [SevenBitPiece]

    /// Looks through `entity`, which lies in `source`.
    ///
    /// - Parameters:
    ///   - header: what is written in place of the entity's own header; it is called with the transfer encoding that it has to
    ///     name, or nil if that is to stay. Its fields about the content are written in seven bits, all others as they are.
    ///   - viewer: is given the form as far as that goes in the same pass; see `wasShown`.
    /// - Throws: `MIMEError.limitExceeded(.depth)` for messages too deep in each other, and what reading throws.
    package init(
        of entity: Entity,
        in source: any ByteSource,
        header: Header? = nil,
        shownTo viewer: (any ByteSink)? = nil
    ) throws {
        var plan = SevenBitPlan(source: source, viewer: viewer)
        try plan.add(entity, replacement: header, depth: 0)
        self.source = source
        pieces = plan.pieces
        wasShown = plan.viewer != nil
        needsEncoding = plan.needsEncoding
        unsafeParts = plan.unsafeParts
        unsafeMessages = plan.unsafeMessages
    }

    /// Writes the entity to `sink`.
    ///
    /// - Throws: what reading and writing throw.
    package func write(to sink: any ByteSink) throws {
        for piece in pieces { try piece.write(from: source, to: sink) }
    }
}
