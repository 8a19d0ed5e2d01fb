/// Divides HTML into tags and text like a browser: nothing is rejected, and an incomplete tag extends to the end of the
/// input.
///
/// The scanner builds no tree. Comments, declarations and the content of scripts and style sheets are left out.
///
/// HTML Living Standard §13.2.5
struct HTMLScanner {
    enum Token: Equatable {
        case close(String)
        case open(String, attributes: [String: String])
        case text(String)
    }

    /// The elements that are left out with their content.
    private static let hidden: Set<String> = [
        "iframe", "noembed", "noframes", "script", "style", "template", "title", "xmp",
    ]
    /// The maximum number of attributes that are read from one tag.
    private static let maximumAttributes = 64

    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// The next token; nil at the end of the input.
    mutating func next() -> Token? {
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else { return .text(text()) }
            if let token = markup() { return token }
        }
        return nil
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func text() -> String {
        let start = position
        position = bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        return HTMLEntities.decode(bytes[start..<position])
    }

    /// Reads markup, which begins with `<`; nil for markup that is left out.
    private mutating func markup() -> Token? {
        let next = position + 1 < bytes.count ? bytes[position + 1] : 0
        switch next {
        case UInt8(ascii: "!") where bytes[position...].starts(with: "<!--".utf8):
            skip(to: Array("-->".utf8), from: position + 2)
            return nil
        case UInt8(ascii: "!"), UInt8(ascii: "?"):
            skip(to: [UInt8(ascii: ">")], from: position + 1)
            return nil
        case UInt8(ascii: "/"):
            guard position + 2 < bytes.count, bytes[position + 2].isLetter else {
                skip(to: [UInt8(ascii: ">")], from: position + 1)
                return nil
            }
            position += 2
            let name = name()
            return attributes() == nil ? nil : .close(name)
        case _ where next.isLetter:
            position += 1
            let name = name()
            guard let attributes = attributes() else { return nil }
            guard Self.hidden.contains(name) else { return .open(name, attributes: attributes) }
            skip(pastEndOf: name)
            return nil
        default:
            position += 1
            return .text("<")
        }
    }

    private mutating func name() -> String {
        let start = position
        while let byte = current, !byte.isHTMLSpace, byte != UInt8(ascii: "/"), byte != UInt8(ascii: ">") {
            position += 1
        }
        return String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
    }

    /// Reads the attributes to the end of the tag; nil if the input ends before that.
    private mutating func attributes() -> [String: String]? {
        var attributes: [String: String] = [:]
        while let byte = current {
            if byte == UInt8(ascii: ">") {
                position += 1
                return attributes
            }
            guard !byte.isHTMLSpace, byte != UInt8(ascii: "/") else {
                position += 1
                continue
            }
            let name = attributeName()
            let value = attributeValue()
            if attributes.count < Self.maximumAttributes, attributes[name] == nil { attributes[name] = value }
        }
        return nil
    }

    private mutating func attributeName() -> String {
        let start = position
        position += 1
        while let byte = current, !byte.isHTMLSpace, !"=/>".utf8.contains(byte) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
    }

    private mutating func attributeValue() -> String {
        while let byte = current, byte.isHTMLSpace { position += 1 }
        guard current == UInt8(ascii: "=") else { return "" }
        position += 1
        while let byte = current, byte.isHTMLSpace { position += 1 }
        guard let first = current else { return "" }
        let isQuoted = first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
        if isQuoted { position += 1 }
        let start = position
        while let byte = current {
            if isQuoted ? byte == first : byte.isHTMLSpace || byte == UInt8(ascii: ">") { break }
            position += 1
        }
        let value = HTMLEntities.decode(bytes[start..<position])
        if isQuoted, current != nil { position += 1 }
        return value
    }

    /// Skips to the end of the next `mark`, or to the end of the input.
    private mutating func skip(to mark: [UInt8], from start: Int) {
        var index = min(start, bytes.count)
        while index < bytes.count, !bytes[index...].starts(with: mark) { index += 1 }
        position = min(index + mark.count, bytes.count)
    }

    /// Skips to the end of the end tag of `name`, or to the end of the input.
    private mutating func skip(pastEndOf name: String) {
        let end = Array("</\(name)".utf8)
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "<"), bytes.count - position >= end.count,
                bytes[position..<position + end.count].equalsIgnoringCase("</\(name)")
            {
                return skip(to: [UInt8(ascii: ">")], from: position)
            }
            position += 1
        }
    }
}

extension UInt8 {
    /// Whether the byte is a blank in HTML.
    var isHTMLSpace: Bool { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(self) }
    fileprivate var isLetter: Bool { 0x41...0x5A ~= self || 0x61...0x7A ~= self }
}

/// Character references of HTML, such as `&amp;` and `&#8364;`: all numeric references, and the named ones that are frequent
/// in mail.
///
/// HTML Living Standard §13.5
enum HTMLEntities {
    /// `bytes` as text with decoded references, with or without a semicolon at their end. A name before an equals sign is not
    /// changed, because it is a parameter of a URL, nor is an unknown name.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var text = ""
        var rest = bytes
        while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
            text += String(decoding: rest[..<mark], as: UTF8.self)
            rest = rest[(mark + 1)...]
            let name = rest.prefix(maximumName).prefix { $0.isReferenceNameByte }
            let isParameter = rest[name.endIndex...].first == UInt8(ascii: "=")
            guard !name.isEmpty, !isParameter, let decoded = decoded(name) else {
                text += "&"
                continue
            }
            text.unicodeScalars.append(decoded)
            rest = rest[name.endIndex...]
            if rest.first == UInt8(ascii: ";") { rest = rest.dropFirst() }
        }
        return text + String(decoding: rest, as: UTF8.self)
    }

    /// The maximum length of a name or number. Numbers may have leading zeros.
    private static let maximumName = 32

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
