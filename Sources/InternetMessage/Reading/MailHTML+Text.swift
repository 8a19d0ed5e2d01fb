extension MailHTML {
    /// The content as plain text. Paragraphs and rows are on lines of their own; blanks are merged as in a browser.
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
