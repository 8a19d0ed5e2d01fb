import ByteStreams
import InternetMessage

extension LocatedEntity {
    /// This message inside a message/rfc822 that has the same fields outside, where `HeaderSplit` can hide them.
    ///
    /// Used for a message whose own header cannot hold copies of the hidden fields. The wrapped message has all fields that
    /// header protection would copy, so nothing is lost.
    ///
    /// RFC 8551 §3.1
    ///
    /// - Parameter omitted: the names of fields that the wrapped message must not have, such as `Bcc`.
    /// - Throws: `MIMEError.limitExceeded` if the header becomes too long, and errors of reading.
    func wrapped(omitting omitted: Set<String>) throws(MIMEError) -> LocatedEntity {
        let header = entity.header
        let type = NewField("Content-Type", value: "message/rfc822", parameters: [.init("forwarded", value: "no")])
        var outer = Array(header.leadingBytes)
        var inner: [UInt8] = []
        for field in header.fields {
            if !field.isContentField { outer += field.terminatedBytes(header.lineEnd) }
            let kind = HeaderFieldKind(field)
            let isOmitted = omitted.contains { field.isNamed($0) }
            guard !isOmitted, kind == .message || kind == .structural else { continue }
            inner += field.terminatedBytes(header.lineEnd)
        }
        outer += type.bytes(lineEnd: header.lineEnd) + header.lineEnd.bytes
        // Without an empty line the body would be read as part of the header.
        inner += header.separator.isEmpty ? header.lineEnd.bytes : header.separator
        let changed = RewrittenSource(outer + inner, source, after: entity.bodyRange.lowerBound)
        return try LocatedEntity(reading: changed)
    }
}
