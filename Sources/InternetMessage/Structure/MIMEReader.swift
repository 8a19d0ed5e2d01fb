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
