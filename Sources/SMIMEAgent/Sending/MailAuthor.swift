import ByteStreams
package import InternetMessage
package import SMIME

/// The author that a message names.
package struct MailAuthor: Sendable {
    /// The first mailbox of From.
    package let address: EmailAddress

    /// The author in `header`; nil if there is no From, or From has no mailboxes.
    ///
    /// - Throws: `AgentError.severalFrom`, `MIMEError`
    package init?(of header: HeaderBlock) throws {
        guard header.all("From").count <= 1 else { throw AgentError.severalFrom }
        guard let first = try header.addresses("From").first else { return nil }
        address = first
    }

    /// The address in From, if From is exactly one mailbox that all mail programs read as the same address; nil if there is
    /// no From.
    ///
    /// - Throws: `AgentError.doubtfulAuthor`
    static func sole(in header: HeaderBlock?) throws -> EmailAddress? {
        guard let header, header.first("From") != nil else { return nil }
        let reading = AuthorReading(header)
        guard let author = reading.soleAddress else {
            throw AgentError.doubtfulAuthor(why: reading.firstProblem ?? "From holds no address")
        }
        return author
    }

    /// `message` with a From field for `author` added at the start of its header; nil if the message already has a From
    /// field.
    package static func writing(_ author: EmailAddress, into message: LocatedEntity) throws -> LocatedEntity? {
        let (header, source) = (message.entity.header, message.source)
        guard header.first("From") == nil else { return nil }
        let start = header.range.lowerBound + header.leadingBytes.count
        let spool = Spool()
        try source.reader(in: 0..<start).copy(to: spool)
        try spool.write(NewField("From", value: author.text).bytes(lineEnd: header.lineEnd))
        try source.reader(in: start..<source.count).copy(to: spool)
        try source.checkUnchanged()
        return try LocatedEntity(reading: spool.finish())
    }
}
