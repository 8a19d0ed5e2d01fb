import NIOCore

/// A command line of the client.
struct SMTPCommand {
    /// The first word, in capitals.
    let verb: String
    /// The text after the first word, without surrounding spaces.
    let argument: Substring

    /// Parses a line without its CRLF.
    ///
    /// - Returns: nil if the line is not SMTP: it has invalid UTF-8 or control characters other than tabs, or does not begin
    ///   with a word of at most 16 letters.
    init?(_ line: ByteBufferView) {
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
            let text = String(validating: line, as: UTF8.self)
        else { return nil }
        let word = text.prefix { $0 != " " && $0 != "\t" }
        guard 1...16 ~= word.utf8.count, word.utf8.allSatisfy(\.isLetter) else { return nil }
        verb = word.uppercased()
        argument = text[word.endIndex...].trimmingBlanks
    }

    /// The methods of HTTP requests. An attacker may make a browser send such requests.
    static let methodsOfHTTP: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PRI", "PUT", "TRACE",
    ]
}

extension Substring {
    var trimmingBlanks: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }

    /// The rest after `prefix`, which may be in any case, without leading blanks; nil if the text does not begin with
    /// `prefix`.
    func dropping(_ prefix: String) -> Substring? {
        guard utf8.count >= prefix.utf8.count,
            let end = utf8.index(startIndex, offsetBy: prefix.utf8.count, limitedBy: endIndex),
            self[..<end].uppercased() == prefix
        else { return nil }
        return self[end...].drop { $0 == " " || $0 == "\t" }
    }
}

/// A parameter of MAIL or RCPT as the client wrote it, such as `RET=HDRS` or `SMTPUTF8`.
///
/// RFC 5321 §4.1.2 (esmtp-param)
package struct SMTPParameter: Hashable, Sendable {
    /// The parameter as written. It is passed on unchanged.
    package let text: String

    /// - Returns: nil unless `text` is a keyword, optionally followed by = and a value.
    package init?(_ text: some StringProtocol) {
        let parts = text.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard let keyword = parts.first, let first = keyword.first, first.isLetterOrDigit,
            keyword.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") })
        else { return nil }
        if parts.count == 2 {
            // The value of ORCPT may contain UTF-8 (RFC 6533 §3).
            guard !parts[1].isEmpty,
                parts[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "=") || $0 >= 0x80 })
            else { return nil }
        }
        self.text = String(text)
    }

    /// The keyword in capitals.
    package var keyword: String { text.prefix { $0 != "=" }.uppercased() }

    /// The value after =; nil if there is no =.
    package var value: String? { text.firstIndex(of: "=").map { String(text[text.index(after: $0)...]) } }
}

extension UInt8 {
    var isLetter: Bool { 0x41...0x5A ~= self & 0xDF }
    var isDigit: Bool { 0x30...0x39 ~= self }
    var isLetterOrDigit: Bool { isLetter || isDigit }
}

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
