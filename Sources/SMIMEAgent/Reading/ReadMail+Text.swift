import InternetMessage
import SMIME

extension ReadMail {
    /// The message as plain text for a terminal: the verdict on the first line, the header, the texts, what is attached.
    ///
    /// Lines of ours begin with `[smime: `; a line of the mail that does so gets a bar in front.
    package var text: String {
        var lines = [verdict.sentence.asDisplayedLine]
        lines += verdict.remarks.map { "  \($0.asDisplayedLine)" }
        lines += [""]
        lines += shownFields.map { "\($0.name): \($0.value)" }
        var attached: [String] = []
        for part in message.parts {
            let told = partVerdicts == nil ? "" : ", \(verdict(on: part).sentence.asDisplayedLine)"
            switch part.content {
            case .body(let plain, let html):
                lines.append("")
                if partVerdicts != nil || message.parts.count > 1 {
                    lines += [Self.mark("part \(part.section)\(told)")]
                }
                lines += Self.lines(plain?.text ?? html.map { MailHTML($0.text).text } ?? "")
                lines += Self.notes(on: plain ?? html)
            case .message(let fields):
                lines += ["", Self.mark("part \(part.section), a message in this message\(told)")]
                lines += fields.flatMap { Self.lines("\($0.name): \($0.value.asDisplayedLine)") }
            case .attachment, .damaged, .encrypted:
                attached.append(Self.mark("part \(part.section), \(part.content.label ?? "")\(told)"))
            }
        }
        if message.isCut { attached.append(Self.mark("there are more parts, which are not shown")) }
        if !attached.isEmpty { lines += [""] + attached }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let prefix = "[smime: "

    private static func mark(_ text: String) -> String { "\(prefix)\(text)]" }

    private static func notes(on text: BodyText?) -> [String] {
        guard let text else { return [] }
        return (text.isCut ? [mark("the text is longer than is shown here")] : [])
            + (text.isDamaged ? [mark("the text is damaged and ends early")] : [])
    }

    /// The lines of a text out of the mail, none of which looks like one of ours.
    private static func lines(_ text: String) -> [String] {
        var lines = text.withoutTerminalControls.split(separator: "\n", omittingEmptySubsequences: false)[...]
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        return lines.map { line in
            let start = line.drop { $0.isWhitespace }.prefix(prefix.count).lowercased()
            return start.hasPrefix("[smime") ? "| \(line)" : String(line)
        }
    }
}
