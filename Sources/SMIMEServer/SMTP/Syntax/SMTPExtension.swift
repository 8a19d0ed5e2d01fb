/// The SMTP extensions that the sessions support. The raw value is the keyword in the reply to EHLO.
package enum SMTPExtension: String, CaseIterable, Sendable {
    /// RFC 2920
    case pipelining = "PIPELINING"
    /// RFC 1870
    case size = "SIZE"
    /// RFC 6152
    case eightBitMIME = "8BITMIME"
    /// RFC 6531
    case smtpUTF8 = "SMTPUTF8"
    /// RFC 3461
    case deliveryStatusNotification = "DSN"
    /// RFC 2034
    case enhancedStatusCodes = "ENHANCEDSTATUSCODES"
    /// RFC 3030
    case chunking = "CHUNKING"
    /// Postfix, XFORWARD_README: the mail server reports the client that sent the message.
    case xforward = "XFORWARD"
}
