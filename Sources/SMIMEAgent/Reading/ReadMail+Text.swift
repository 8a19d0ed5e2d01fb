import ByteStreams
import InternetMessage
import SMIME

extension ReadMail {
    /// The message as plain text for a terminal: the verdict on the first line, the header, the texts, and the attachments.
    ///
    /// Notices of smime begin with `[smime: `. So that no line of the mail can pose as a notice, lines of the mail are
    /// wrapped here with a bar in front of each, and brackets in them that begin like a notice are replaced. Only if one
    /// valid signature covers everything and no text resembles a notice, the texts are shown unchanged.
    ///
    /// - Parameter columns: how many columns the terminal has.
    package func text(columns: Int = 80) -> String {
        var lines = verdict.sentence.asDisplayedLine.wrapped(to: columns, then: Self.indent)
        lines += allRemarks.flatMap { $0.asDisplayedLine.wrapped(to: columns, behind: "  ", then: Self.indent) }
        lines += [""]
        lines += shownFields.flatMap { $0.value.wrapped(to: columns, behind: "\($0.name): ", then: Self.indent) }
        var attached: [String] = []
        let isBarred = isBarred
        func own(_ text: String) -> [String] {
            Self.isolated(text).wrapped(to: columns, behind: Self.prefix, then: Self.indent)
        }
        func body(_ text: String) -> [String] {
            guard isBarred else { return Self.lines(text) }
            let lines = Self.lines(Self.withoutOurs(text))
            return lines.flatMap { $0.wrapped(to: columns, behind: Self.bar, then: Self.bar) }
        }
        for part in message.parts {
            let verdictText = partVerdicts == nil ? "" : ", \(verdict(on: part).sentence.asDisplayedLine)"
            switch part.content {
            case .body(let plain, let html):
                lines.append("")
                if partVerdicts != nil || message.parts.count > 1 { lines += own("part \(part.section)\(verdictText)") }
                lines += body(Self.words(plain, html: html))
                lines += (plain ?? html).map(Self.notes)?.flatMap(own) ?? []
            case .message(let fields):
                lines += [""] + own("part \(part.section)\(verdictText), a message in this message")
                lines += fields.flatMap { body("\($0.name): \($0.value.asDisplayedLine)") }
            case .attachment, .damaged, .encrypted:
                attached += own("part \(part.section)\(verdictText), \(part.content.label ?? "")")
            }
        }
        if message.isCut { attached += own("there are more parts, which are not shown") }
        if !attached.isEmpty { lines += [""] + attached }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let prefix = "[smime: "
    private static let bar = "| "
    /// Precedes the continuation of a wrapped notice, so that no line begins with words of the mail.
    private static let indent = "    "

    /// Replaces the brackets in `text` and appends the bracket that closes a notice of smime. The caller adds the opening
    /// `[smime: `.
    private static func isolated(_ text: String) -> String { text.withoutBrackets + "]" }

    /// Notices about the parts of a text that are missing.
    static func notes(on text: BodyText) -> [String] {
        (text.isLeftOut ? ["the text is left out: those before it are too long"] : [])
            + (text.isCut && !text.isLeftOut ? ["the text is longer than is shown here"] : [])
            + (text.isDamaged ? ["the text is damaged and ends early"] : [])
    }

    /// Whether each line of the mail is shown with a bar in front.
    private var isBarred: Bool {
        guard partVerdicts == nil, verdict.tone == .good else { return true }
        return message.parts.contains { part in
            switch part.content {
            case .body(let plain, let html): Self.posesAsOurs(Self.words(plain, html: html))
            case .message(let fields): fields.contains { Self.posesAsOurs($0.value) }
            case .attachment, .damaged, .encrypted: false
            }
        }
    }

    /// The plain text; if there is none, the words of the HTML text.
    private static func words(_ plain: BodyText?, html: BodyText?) -> String {
        plain?.text ?? html.map { MailHTML($0.text).text } ?? ""
    }

    /// Whether a text contains `[smime`, even with blanks or non-ASCII characters between the letters.
    private static func posesAsOurs(_ text: String) -> Bool {
        // Setting bit 0x20 makes letters lower case, and turns `[` into `{`.
        let shown = text.withoutTerminalControls.utf8.filter { 0x21...0x7E ~= $0 }.map { $0 | 0x20 }
        return String(decoding: shown, as: UTF8.self).contains("{smime")
    }

    /// `text` with every bracket replaced that looks like the beginning of a notice, even if a window wraps the lines again.
    private static func withoutOurs(_ text: String) -> String {
        guard posesAsOurs(text) else { return text }
        var scalars = Array(text.withoutTerminalControls.unicodeScalars)
        let shown = scalars.indices.filter { 0x21...0x7E ~= scalars[$0].value }
        let ours = "smime".unicodeScalars.map(\.value)
        for (position, index) in shown.enumerated() where scalars[index] == "[" {
            let word = shown[(position + 1)...].prefix(ours.count).map { scalars[$0].value | 0x20 }
            if word == ours { scalars[index] = "_" }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// The lines of a text of the mail, without blank lines at its end.
    private static func lines(_ text: String) -> [String] {
        var lines = text.withoutTerminalControls.split(separator: "\n", omittingEmptySubsequences: false)[...]
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        return lines.map(String.init)
    }
}
