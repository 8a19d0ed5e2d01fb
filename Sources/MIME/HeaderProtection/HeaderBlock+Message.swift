extension HeaderBlock {
    /// This header of an entity that is signed, as the one of a message: with a MIME-Version, and with the fields that
    /// `protected` has inside the signature, as readers look for them outside.
    ///
    /// - Throws: `MIMEError.limitExceeded` for a header that is too long.
    package func asMessage(with protected: ProtectedHeader?) throws(MIMEError) -> HeaderBlock {
        var bytes: [UInt8] = []
        if first("MIME-Version") == nil { bytes += NewField("MIME-Version", "1.0").bytes(lineEnd: lineEnd) }
        for field in fields { bytes += field.closedBytes(lineEnd) }
        if let protected {
            for field in protected.fields {
                bytes += field.closedBytes(protected.header.lineEnd).withLines(endingIn: lineEnd)
            }
        }
        return try HeaderBlock(parsing: bytes + lineEnd.bytes)
    }
}
