package import InternetMessage

extension HeaderBlock {
    /// This header of a signed entity as the header of a message: with MIME-Version, and with `fields`.
    ///
    /// - Throws: `MIMEError.limitExceeded` if the header becomes too long.
    package func asMessage(with fields: [HeaderField] = [], _ end: LineEnd = .crlf) throws(MIMEError) -> HeaderBlock {
        var bytes: [UInt8] = []
        if first("MIME-Version") == nil { bytes += NewField("MIME-Version", value: "1.0").bytes(lineEnd: lineEnd) }
        for field in self.fields { bytes += field.closedBytes(lineEnd) }
        for field in fields { bytes += field.closedBytes(end).withLines(endingIn: lineEnd) }
        return try HeaderBlock(parsing: bytes + lineEnd.bytes)
    }
}
