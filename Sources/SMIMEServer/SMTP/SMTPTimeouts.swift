/// How long each side waits for the other, at least the times of RFC 5321 §4.5.3.2.
package enum SMTPTimeouts {
    /// A server waits for the next command.
    package static let command = Duration.seconds(300)
    /// A server waits for the next bytes of a message, and a client until the next bytes could be written.
    package static let contentBlock = Duration.seconds(180)
    /// A client waits for the greeting.
    package static let greeting = Duration.seconds(300)
    /// A client waits for the replies to EHLO, MAIL, RCPT, RSET and XFORWARD.
    package static let reply = Duration.seconds(300)
    /// A client waits for the reply to DATA.
    package static let dataInitiation = Duration.seconds(120)
    /// A client waits for the reply to the end of the message.
    package static let dataTermination = Duration.seconds(600)
    /// A client waits for the reply to QUIT, which does not matter for any message.
    package static let quit = Duration.seconds(5)
}
