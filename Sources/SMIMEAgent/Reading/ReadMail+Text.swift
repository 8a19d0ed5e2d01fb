import ByteStreams
import InternetMessage
import SMIME

extension ReadMail {
    /// The message as plain text for a terminal: the verdict on the first line, the header, the texts, and the attachments.
    ///
    /// Each line of the mail has a bar in front, so that no text can pose as the verdict, as a field of the header or as a
    /// notice of smime. Notices begin with `[smime: `; brackets in the mail that begin like a notice are replaced.
    ///
    /// - Parameter columns: how many columns the terminal has.
    package func text(columns: Int = 80) -> String {
        var lines = verdict.sentence.asDisplayedLine.wrapped(to: columns, then: Self.indent)
        lines += allRemarks.flatMap { $0.asDisplayedLine.wrapped(to: columns, behind: "  ", then: Self.indent) }
        lines += [""]
        lines += shownFields.flatMap { $0.value.wrapped(to: columns, behind: "\($0.name): ", then: Self.indent) }
        var attached: [String] = []
        func own(_ text: String) -> [String] {
            Self.isolated(text).wrapped(to: columns, behind: Self.prefix, then: Self.indent)
        }
        func body(_ text: String) -> [String] {
            Self.lines(Self.withoutOurs(text)).flatMap { $0.wrapped(to: columns, behind: Self.bar, then: Self.bar) }
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

    /// The plain text; if there is none, the words of the HTML text.
    private static func words(_ plain: BodyText?, html: BodyText?) -> String {
        plain?.text ?? html.map { MailHTML($0.text).text } ?? ""
    }

    /// `text` with every bracket replaced that looks like the beginning of a notice, even if a window wraps the lines again.
    private static func withoutOurs(_ text: String) -> String {
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
