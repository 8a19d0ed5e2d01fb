/// The HTML of a mail, reduced to what can be shown without loading anything: words and their arrangement.
///
/// Only elements and attributes of a short list remain. There are no links, pictures, forms, scripts or styles; the target of
/// a link stands behind its words, and a picture is its description.
package struct MailHTML: Sendable {
    private let source: String

    package init(_ source: String) { self.source = source }

    /// The elements that remain.
    private static let elements: Set<String> = [
        "abbr", "address", "article", "aside", "b", "blockquote", "br", "caption", "center", "cite", "code", "dd",
        "del",
        "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "hr",
        "i", "ins", "kbd", "li", "main", "mark", "ol", "p", "pre", "q", "s", "samp", "section", "small", "span",
        "strong",
        "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul", "var", "wbr",
    ]
    /// How deep elements may be inside each other: browsers allow 512.
    private static let maximumDepth = 200
    /// How much of the target of a link is shown.
    private static let maximumTarget = 300

    enum Piece {
        case close(String)
        case open(String, attributes: [String: String])
        case text(String)
    }

    /// Calls `body` with what remains, in order.
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

    /// The target of a link as it is shown; nil if it leads nowhere outside.
    private static func target(_ text: String) -> String? {
        let line = text.filter { !$0.isWhitespace }.asDisplayedLine
        guard ["http:", "https:", "mailto:", "ftp:", "tel:"].contains(where: line.lowercased().hasPrefix) else {
            return nil
        }
        return line.count > maximumTarget ? "\(line.prefix(maximumTarget))…" : line
    }

    /// HTML that can stand in the body of a page.
    package var safe: String {
        var output = ""
        var depth = 0
        forEach { piece in
            switch piece {
            case .text(let text): output += text.escapedForHTML
            case .open(let name, let attributes):
                let isEmpty = ["br", "hr", "wbr"].contains(name)
                guard isEmpty || depth < Self.maximumDepth else { return }
                if !isEmpty { depth += 1 }
                output += "<\(name)\(Self.safe(attributes))>"
            case .close(let name):
                depth = max(0, depth - 1)
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
    /// This text for the content of an element, and for the value of an attribute in double quotes.
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
