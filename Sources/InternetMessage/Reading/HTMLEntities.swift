/// Character references of HTML, such as `&amp;` and `&#8364;`: all numeric references, and the named ones that occur in
/// mail.
///
/// HTML Living Standard §13.5
enum HTMLEntities {
    /// `bytes` as text with decoded references. Text that only resembles a reference is not changed.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        var rest = bytes
        while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
            text += String(decoding: rest[..<mark], as: UTF8.self)
            rest = rest[(mark + 1)...]
            let name = rest.prefix(maximumName).prefix { $0.isReferenceNameByte }
            guard !name.isEmpty, let decoded = decoded(name) else {
                text += "&"
                continue
            }
            text.unicodeScalars.append(decoded)
            rest = rest[name.endIndex...]
            if rest.first == UInt8(ascii: ";") { rest = rest.dropFirst() }
        }
        return text + String(decoding: rest, as: UTF8.self)
    }

    private static let maximumName = 12

    private static func decoded(_ name: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let text = String(decoding: name, as: UTF8.self)
        guard text.hasPrefix("#") else { return names[text] }
        let digits = text.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let number else { return nil }
        // Browsers interpret the numbers from 128 to 159 as windows-1252. Here they are control characters, which are removed
        // later.
        return Unicode.Scalar(number) ?? "\u{FFFD}"
    }

    private static let names: [String: Unicode.Scalar] = [
        "AMP": "&", "Auml": "Ä", "GT": ">", "LT": "<", "Ouml": "Ö", "QUOT": "\"", "Uuml": "Ü", "agrave": "à",
        "amp": "&",
        "apos": "'", "aring": "å", "auml": "ä", "bull": "•", "ccedil": "ç", "cent": "¢", "copy": "©", "deg": "°",
        "eacute": "é", "ecirc": "ê", "egrave": "è", "euro": "€", "gt": ">", "hellip": "…", "laquo": "«", "ldquo": "“",
        "lsquo": "‘", "lt": "<", "mdash": "—", "middot": "·", "nbsp": "\u{A0}", "ndash": "–", "ntilde": "ñ",
        "ouml": "ö",
        "para": "¶", "pound": "£", "quot": "\"", "raquo": "»", "rdquo": "”", "reg": "®", "rsquo": "’", "sbquo": "‚",
        "sect": "§", "szlig": "ß", "times": "×", "trade": "™", "uuml": "ü", "yen": "¥",
    ]
}

extension UInt8 {
    /// Whether the byte can occur between the `&` and the `;` of a character reference.
    fileprivate var isReferenceNameByte: Bool {
        0x30...0x39 ~= self || 0x41...0x5A ~= self || 0x61...0x7A ~= self || self == UInt8(ascii: "#")
    }
}
