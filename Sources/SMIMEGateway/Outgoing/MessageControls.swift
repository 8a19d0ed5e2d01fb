package import ByteStreams
package import InternetMessage
import SMIME
package import SMIMEAgent

/// What a message asks of the filter, and the message without it.
///
/// X-SMIME fields and subject tags are always removed, and so are Bcc fields, which recipients must not see.
package struct MessageControls: Sendable {
    /// The request in the message.
    package let request: ProtectionRequest
    /// The values of X-SMIME fields that are not understood.
    package let unread: [String]
    /// The message as it may be sent; the very same source if there was nothing to take out.
    package let source: any ByteSource
    /// The message in `source`.
    package let message: Entity

    /// Reads the header of the message in `source`.
    ///
    /// - Throws: `MIMEError`; `MessageError.malformed` for a subject that is too long to be searched for tags.
    package init(of source: any ByteSource, tags: SubjectTags) throws {
        let original = try MIMEReader.message(in: source)
        let header = original.header
        var request = ProtectionRequest()
        var unread: [String] = []
        var edited = Array(header.leadingBytes)
        var isEdited = false
        // With two subjects it is unknown which one the sender sees.
        let hasOneSubject = header.all("Subject").count == 1
        for field in header.fields {
            if field.isNamed("X-SMIME") {
                request = request.merging(ProtectionRequest(parsing: field.value))
                unread += ProtectionRequest.unread(in: field.value)
                isEdited = true
            } else if field.isNamed("Bcc") || field.isNamed("Resent-Bcc") {
                isEdited = true
            } else if field.isNamed("Subject"),
                let (tagged, rest) = try tags.read(
                    field,
                    lineEnd: header.lineEnd,
                    mayLower: hasOneSubject
                )
            {
                request = request.merging(tagged)
                edited += rest
                isEdited = true
            } else {
                edited += field.rawBytes
            }
        }
        self.request = request
        self.unread = unread
        self.source = isEdited ? RewrittenSource(edited, source, after: header.range.upperBound) : source
        message = isEdited ? try MIMEReader.message(in: self.source) : original
    }

    /// The recipients that all recipients may see: those in To and Cc.
    ///
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    package func visibleRecipients() throws(MIMEError) -> Set<EmailAddress> {
        Set(try message.header.addresses("To") + message.header.addresses("Cc"))
    }

    /// Every address in every From field.
    ///
    /// - Parameter author: what was read of the message's From.
    /// - Throws: `MIMEError.limitExceeded(.addresses)`
    func claimedAuthors(_ author: AuthorReading) throws(MIMEError) -> [EmailAddress] {
        // As a rule there is one field, which was read already.
        guard author.mailboxes.isEmpty || message.header.all("From").count != 1 else {
            return author.mailboxes.map(\.address)
        }
        return try message.header.addresses("From")
    }
}
