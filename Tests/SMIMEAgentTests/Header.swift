import InternetMessage

/// The header of a message.
func header(_ fields: String...) throws -> HeaderBlock {
    try HeaderBlock(parsing: Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8))
}
