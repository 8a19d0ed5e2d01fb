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
