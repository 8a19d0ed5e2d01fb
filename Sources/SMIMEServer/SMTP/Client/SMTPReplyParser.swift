/// Reads the replies of a server out of a byte stream.
///
/// RFC 5321 §4.2
package struct SMTPReplyParser: Sendable {
    package init() {}
}
