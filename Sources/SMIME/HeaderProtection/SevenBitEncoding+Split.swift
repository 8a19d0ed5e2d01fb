import ByteStreams
import InternetMessage

extension SevenBitEncoding {
    /// The form of `message`'s protected entity: with the inner header of `split`, if there is one.
    ///
    /// - Throws: `MIMEError.limitExceeded(.depth)` for messages too deep in each other, and what reading throws.
    init(
        of message: Entity,
        in source: any ByteSource,
        split: HeaderSplit,
        shownTo viewer: (any ByteSink)? = nil
    ) throws {
        try self.init(of: message, in: source, header: split.innerHeader(newEncoding:), shownTo: viewer)
    }
}
