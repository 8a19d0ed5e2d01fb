package import ByteStreams

/// Reads the structure of messages: one pass, no copies, no recursion.
///
/// RFC 2046 §5.1
package enum MIMEReader {
    /// Reads the structure of the message in `source`, or in a range of it.
    ///
    /// An embedded message is a part without children; `Entity.embeddedMessage(in:)` reads it.
    ///
    /// - Throws: `MIMEError.limitExceeded`, `MIMEError.unreadable`
    package static func message(in source: any ByteSource, range: Range<Int>? = nil) throws(MIMEError) -> Entity {
        let whole = 0..<source.count
        var structure = StructureScan(source, in: range?.clamped(to: whole) ?? whole)
        return try structure.run()
    }

    /// Reads the structure of the message in `source`; nil if the message exceeds a limit.
    ///
    /// - Throws: `MIMEError.unreadable`
    package static func messageWithinLimits(in source: any ByteSource) throws(MIMEError) -> Entity? {
        do throws(MIMEError) { return try message(in: source) } catch {
            if case .unreadable = error { throw error }
            return nil
        }
    }

    /// Reads the structure of the message in `source`, which is `message` with other header fields.
    ///
    /// If the fields about the content are unchanged, only the header is read: the parts are where they were, counted from
    /// the end of the header. Otherwise the whole message is read.
    ///
    /// - Parameter message: the structure of the whole message whose header was replaced.
    /// - Throws: the errors of `message(in:range:)`
    package static func message(in source: any ByteSource, afterChangeTo message: Entity) throws(MIMEError)
        -> Entity
    {
        let header = try HeaderBlock(reading: source, from: 0, to: source.count) { _ in false }
        let distance = source.count - message.range.upperBound
        let (old, new) = (message.header.moved(by: distance).separatorRange, header.separatorRange)
        guard message.range.lowerBound == 0, old == new,
            contentFields(of: header) == contentFields(of: message.header)
        else { return try self.message(in: source) }
        let changed = message.replacing(header: header, longerBy: distance)
        guard changed.headerCount <= MIMELimit.totalHeaderBytes.rawValue else {
            throw .limitExceeded(.totalHeaderBytes)
        }
        return changed
    }

    /// The fields on which the structure of the body depends.
    private static func contentFields(of header: HeaderBlock) -> [[UInt8]] {
        (header.all("Content-Type") + header.all("Content-Transfer-Encoding")).map { Array($0.rawBytes) }
    }
}

extension Entity {
    /// The embedded message in this part; nil if the part is not a message or its bytes are encoded.
    ///
    /// - Throws: the errors of `MIMEReader.message(in:range:)`
    package func embeddedMessage(in source: any ByteSource) throws(MIMEError) -> Entity? {
        guard contentType.isMessage, transferEncoding.isIdentity else { return nil }
        return try MIMEReader.message(in: source, range: bodyRange)
    }
}
