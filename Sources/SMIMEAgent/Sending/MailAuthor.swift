package import ByteStreams
package import InternetMessage
import SMIME

/// The author that a message names.
package struct MailAuthor: Sendable {
    /// The first mailbox of From.
    package let address: EmailAddress

    /// The mailboxes of From; nil if there are none.
    ///
    /// - Throws: `AgentError.severalFrom`, `MIMEError`
    package init?(of header: HeaderBlock) throws {
        guard header.all("From").count <= 1 else { throw AgentError.severalFrom }
        guard let first = try header.addresses("From").first else { return nil }
        address = first
    }

    /// The one mailbox in From that all programs read alike; nil if there is no such field.
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

    /// The message in `source` with From in front of its header, for `author`; nil if it has that field.
    package static func writing(_ author: EmailAddress, into source: any ByteSource) throws -> (any ByteSource)? {
        let header = try MIMEReader.message(in: source).header
        guard header.first("From") == nil else { return nil }
        let start = header.range.lowerBound + header.leadingBytes.count
        let spool = Spool()
        try source.reader(in: 0..<start).copy(to: spool)
        try spool.write(NewField("From", value: author.text).bytes(lineEnd: header.lineEnd))
        try source.reader(in: start..<source.count).copy(to: spool)
        try source.checkUnchanged()
        return try spool.finish()
    }
}
