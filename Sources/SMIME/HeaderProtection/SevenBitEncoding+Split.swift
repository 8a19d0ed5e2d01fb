import ByteStreams
import InternetMessage

extension SevenBitEncoding {
    /// Plans the 7-bit form of `message`'s protected entity. The entity's header is the inner header of `split`, if `split`
    /// is not nil.
    ///
    /// - Throws: `MIMEError.limitExceeded(.depth)` for messages nested too deeply, and errors of reading.
    init(
        of message: Entity,
        in source: any ByteSource,
        split: HeaderSplit,
        shownTo viewer: (any ByteSink)? = nil
    ) throws {
        try self.init(of: message, in: source, header: split.innerHeader(newEncoding:), shownTo: viewer)
    }
}
