/// A mailbox between angle brackets, and the rest of the line of MAIL or RCPT.
///
/// RFC 5321 §4.1.2, RFC 6531 §3.3
struct SMTPPath {
    /// The mailbox, without a source route; empty for the null path.
    let mailbox: String
    /// The text after the path, without leading spaces.
    let rest: Substring

    /// The maximum length of a path in bytes: the 256 of RFC 5321 §4.5.3.1.3, increased for mailboxes in UTF-8 and for long
    /// variable return paths.
    static let maximumLength = 1024

    /// Parses the path at the start of `text`; nil if there is none.
    init?(_ text: Substring) {
        let bytes = text.utf8
        guard bytes.first == UInt8(ascii: "<"), let end = Self.end(of: bytes) else { return nil }
        var path = text[bytes.index(after: text.startIndex)..<end]
        guard path.utf8.count <= Self.maximumLength else { return nil }
        if path.utf8.first == UInt8(ascii: "@") {
            guard let colon = path.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isSourceRoute(path[..<colon]) else {
                return nil
            }
            path = path[path.utf8.index(after: colon)...]
            guard !path.isEmpty else { return nil }
        }
        guard path.isEmpty || Self.isMailbox(path) else { return nil }
        mailbox = String(path)
        let rest = text[bytes.index(after: end)...]
        guard rest.isEmpty || rest.utf8.first == UInt8(ascii: " ") else { return nil }
        self.rest = Substring(rest.drop { $0 == " " })
    }

    /// The index of the closing bracket outside of quoted strings; nil if there is none.
    private static func end(of bytes: Substring.UTF8View) -> Substring.Index? {
        var isQuoted = false
        var isEscaped = false
        for index in bytes.indices {
            switch bytes[index] {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isQuoted: isEscaped = true
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ">") where !isQuoted: return index
            default: break
            }
        }
        return nil
    }

    /// Whether `text` is a local part and a domain, or only the local part `postmaster`.
    static func isMailbox(_ text: Substring) -> Bool {
        // An @ may be in a quoted local part, but never in a domain.
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            return text.lowercased() == "postmaster"
        }
        return isLocalPart(text[..<at]) && isDomain(text[text.utf8.index(after: at)...])
    }

    /// Whether `text` is a Dot-string or a Quoted-string.
    static func isLocalPart(_ text: Substring) -> Bool {
        guard text.utf8.first == UInt8(ascii: "\"") else { return isDotString(text) }
        var isEscaped = false
        let inside = text.utf8.dropFirst()
        for (offset, byte) in inside.enumerated() {
            if byte < 0x20 { return false }
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                return offset == inside.count - 1
            }
        }
        return false
    }

    /// Whether `text` consists of atoms separated by dots. Additional dots are accepted, because mailboxes of some providers
    /// have them.
    private static func isDotString(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                $0 >= 0x80 || $0.isLetterOrDigit || "!#$%&'*+-/=?^_`{|}~.".utf8.contains($0)
            }
    }

    private static func isDomain(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last, text.utf8.count <= 255 else { return false }
        if first == UInt8(ascii: "[") {
            return last == UInt8(ascii: "]") && text.utf8.count > 2
                && text.utf8.dropFirst().dropLast()
                    .allSatisfy { $0.isLetterOrDigit || ":.-".utf8.contains($0) }
        }
        // Underscores are accepted, because the names of some existing hosts contain them.
        return text.utf8.allSatisfy { $0 >= 0x80 || $0.isLetterOrDigit || "-._".utf8.contains($0) }
            && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty
            }
    }

    private static func isSourceRoute(_ text: Substring) -> Bool {
        text.split(separator: ",", omittingEmptySubsequences: false)
            .allSatisfy { $0.utf8.first == UInt8(ascii: "@") && isDomain($0.dropFirst()) }
    }
}

/// The xtext encoding of parameter values: visible ASCII is unchanged, except + and =. All other bytes become `+` and two
/// hexadecimal digits.
///
/// RFC 3461 §4
enum XText {
    /// The decoded bytes of `text`; nil if it is not xtext.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var iterator = text.utf8.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "+"):
                guard let high = iterator.next()?.hexadecimalValue, let low = iterator.next()?.hexadecimalValue else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "="), ...0x20, 0x7F...: return nil
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "+"), UInt8(ascii: "="), ...0x20, 0x7F...:
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.utf8.count == 1 ? "+0\(digits)" : "+\(digits)"
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return text
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit in either case; nil for any other byte.
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
