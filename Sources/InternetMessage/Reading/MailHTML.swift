/// The HTML of a mail, reduced to words and their layout. Displaying it loads nothing from the network.
///
/// Only the elements and attributes of a short list are kept. Links, images, forms, scripts and styles are removed: the
/// target of a link is written after its text, and an image is replaced by its description.
package struct MailHTML: Sendable {
    private let source: String

    package init(_ source: String) { self.source = source }

    /// The elements that are kept.
    private static let elements: Set<String> = [
        "abbr", "address", "article", "aside", "b", "blockquote", "br", "caption", "center", "cite", "code", "dd",
        "del",
        "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "hr",
        "i", "ins", "kbd", "li", "main", "mark", "ol", "p", "pre", "q", "s", "samp", "section", "small", "span",
        "strong",
        "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul", "var", "wbr",
    ]
    /// The maximum nesting of elements; browsers allow 512.
    private static let maximumDepth = 200
    /// The maximum number of characters to display of a link: of its host, of the text after the host, and of a link without
    /// a host.
    private static let maximumTarget = 300

    enum Piece {
        case close(String)
        case open(String, attributes: [String: String])
        case text(String)
    }

    /// Calls `body` with each piece that is kept, in order.
    func forEach(_ body: (Piece) -> Void) {
        var scanner = HTMLScanner(source)
        var target: String?
        var words = ""
        func show(_ text: String) {
            let shown = text.withoutTerminalControls
            if target != nil, words.utf8.count < 2 * Self.maximumTarget { words += shown }
            body(.text(shown))
        }
        func endLink() {
            if let target, !words.contains(target) { body(.text(" <\(target)>")) }
            target = nil
        }
        while let token = scanner.next() {
            switch token {
            case .text(let text): show(text)
            case .open("a", let attributes):
                endLink()
                (target, words) = (attributes["href"].flatMap(Self.target), "")
            case .close("a"): endLink()
            case .open("img", let attributes):
                if let text = attributes["alt"], !text.isEmpty { show("[\(text)]") }
            case .open(let name, let attributes):
                if Self.elements.contains(name) { body(.open(name, attributes: attributes)) }
            case .close(let name):
                if Self.elements.contains(name) { body(.close(name)) }
            }
        }
        endLink()
    }

    /// The displayed target of a link; nil unless it is a web, mail, FTP or telephone link.
    private static func target(_ text: String) -> String? {
        let line = text.filter { !$0.isWhitespace }.asDisplayedLine
        guard ["http:", "https:", "mailto:", "ftp:", "tel:"].contains(where: line.lowercased().hasPrefix) else {
            return nil
        }
        return shortened(line)
    }

    /// `link` with its host, and the text after it, each cut to `maximumTarget` characters. The user name in front of the
    /// host is omitted, because readers could take it for the host. The end of the host is always shown. Browsers accept any
    /// number of slashes and backslashes after the scheme.
    ///
    /// RFC 3986 §3.2, §7.6
    private static func shortened(_ link: String) -> String {
        let scalars = Array(link.unicodeScalars)
        func text(_ part: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(part)) }
        func cut(_ part: ArraySlice<Unicode.Scalar>) -> String {
            part.count > maximumTarget ? "\(text(part.prefix(maximumTarget)))…" : text(part)
        }
        guard let colon = scalars.firstIndex(of: ":"),
            ["http", "https", "ftp"].contains(text(scalars[..<colon]).lowercased())
        else { return cut(scalars[...]) }
        let start = scalars[(colon + 1)...].firstIndex { $0 != "/" && $0 != "\\" } ?? scalars.count
        let end = scalars[start...].firstIndex { "/?#\\".unicodeScalars.contains($0) } ?? scalars.count
        let at = scalars[start..<end].lastIndex(of: "@")
        let host = scalars[(at ?? start)..<end]
        let isCut = at != nil || host.count > maximumTarget
        return cut(scalars[..<start]) + (isCut ? "…" : "") + text(host.suffix(maximumTarget)) + cut(scalars[end...])
    }

    /// HTML that can be inserted into the body of a page.
    package var safe: String {
        var output = ""
        var open: [String] = []
        forEach { piece in
            switch piece {
            case .text(let text): output += text.escapedForHTML
            case .open(let name, let attributes):
                let isEmpty = ["br", "hr", "wbr"].contains(name)
                guard isEmpty || open.count < Self.maximumDepth else { return }
                if !isEmpty { open.append(name) }
                output += "<\(name)\(Self.safe(attributes))>"
            case .close(let name):
                guard let index = open.lastIndex(of: name) else { return }
                open.removeSubrange(index...)
                output += "</\(name)>"
            }
        }
        return output
    }

    private static func safe(_ attributes: [String: String]) -> String {
        let numbers = ["colspan", "rowspan"].compactMap { name in
            attributes[name].flatMap { UInt8($0) }.map { " \(name)=\"\($0)\"" }
        }
        let side = attributes["align"]?.lowercased() ?? ""
        let sides = ["center", "justify", "left", "right"].contains(side) ? [" align=\"\(side)\""] : []
        return (numbers + sides).joined()
    }
}

extension String {
    /// The text, escaped for the content of an element and for an attribute value in double quotes.
    package var escapedForHTML: String {
        var output = ""
        output.reserveCapacity(utf8.count)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": output += "&amp;"
            case "<": output += "&lt;"
            case ">": output += "&gt;"
            case "\"": output += "&quot;"
            case "'": output += "&#39;"
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output
    }
}

extension MailHTML {
    /// The content as plain text. Paragraphs and rows are on lines of their own. Consecutive blanks, including no-break
    /// spaces, become one blank, except in `pre`.
    package var text: String {
        var writer = PlainTextWriter()
        forEach { piece in
            switch piece {
            case .text(let text): writer.write(text)
            case .open(let name, _): writer.open(name)
            case .close(let name): writer.close(name)
            }
        }
        return writer.text
    }
}

/// Arranges the words of HTML in lines.
private struct PlainTextWriter {
    private(set) var text = ""
    /// The number of line ends to write before the next word.
    private var breaks = 0
    private var needsSpace = false
    private var preformatted = 0

    /// The elements that begin and end a paragraph.
    private static let paragraphs: Set<String> = [
        "blockquote", "dl", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "p", "pre", "table", "ul",
    ]
    /// The elements that are on lines of their own.
    private static let lines: Set<String> = [
        "address", "article", "aside", "caption", "center", "dd", "div", "dt", "figcaption", "footer", "header", "li",
        "main",
        "section", "tr",
    ]

    mutating func open(_ name: String) {
        switch name {
        case "br": end(lines: breaks + 1)
        case "hr":
            end(lines: 1)
            write("----")
            end(lines: 1)
        case "li":
            end(lines: 1)
            write("-")
            needsSpace = true
        case "td", "th": needsSpace = true
        default:
            end(lines: Self.paragraphs.contains(name) ? 2 : Self.lines.contains(name) ? 1 : 0)
            if name == "pre" { preformatted += 1 }
        }
    }

    mutating func close(_ name: String) {
        end(lines: Self.paragraphs.contains(name) ? 2 : Self.lines.contains(name) ? 1 : 0)
        if name == "pre" { preformatted = max(0, preformatted - 1) }
    }

    private mutating func end(lines count: Int) {
        guard !text.isEmpty, count > 0 else { return }
        breaks = min(max(breaks, count), 3)
        needsSpace = false
    }

    mutating func write(_ words: String) {
        guard preformatted == 0 else {
            place(words)
            return
        }
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\u{A0}" }
        if words.first.map(isBlank) == true { needsSpace = true }
        for word in words.split(whereSeparator: isBlank) {
            place(String(word))
            needsSpace = true
        }
        needsSpace = words.last.map(isBlank) == true
    }

    private mutating func place(_ word: String) {
        guard !word.isEmpty else { return }
        if breaks > 0 {
            text += String(repeating: "\n", count: breaks)
        } else if needsSpace, !text.isEmpty {
            text += " "
        }
        (breaks, needsSpace) = (0, false)
        text += word
    }
}
