/// How long each side waits for the other. Except for `quit`, the times are at least those of RFC 5321 §4.5.3.2.
package enum SMTPTimeouts {
    /// The time that a server waits for the next command.
    package static let command = Duration.seconds(300)
    /// The time that a server waits for the next bytes of a message, and that a client waits until it can write the next
    /// bytes.
    package static let contentBlock = Duration.seconds(180)
    /// The time that a client waits for the greeting.
    package static let greeting = Duration.seconds(300)
    /// The time that a client waits for the replies to EHLO, HELO, MAIL, RCPT, RSET and XFORWARD.
    package static let reply = Duration.seconds(300)
    /// The time that a client waits for the reply to DATA.
    package static let dataInitiation = Duration.seconds(120)
    /// The time that a client waits for the reply to the end of the message.
    package static let dataTermination = Duration.seconds(600)
    /// The time that a client waits for the reply to QUIT. It is short, because the reply does not matter for any message.
    package static let quit = Duration.seconds(5)
}
