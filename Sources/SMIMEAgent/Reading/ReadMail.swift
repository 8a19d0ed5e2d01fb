import ByteStreams
import InternetMessage
package import SMIME

/// A message with the verdicts on it, ready to be shown as text or as a page.
package struct ReadMail: Sendable {
    /// The message, as far as it could be opened.
    package let message: ReadableMessage
    /// The verdict on the whole message.
    package let verdict: ReadVerdict
    /// The values of the header fields that an accepted signature covers, by their names in lower case. They replace the
    /// outer values.
    package let signedFields: [String: String]
    /// The verdicts on parts, by the section of their signature; nil if the verdict on the whole message applies to each
    /// part.
    package let partVerdicts: [String: ReadVerdict]?

    package init(
        _ message: ReadableMessage,
        _ verdict: ReadVerdict,
        signedFields: [String: String] = [:],
        partVerdicts: [String: ReadVerdict]? = nil
    ) {
        self.message = message
        self.verdict = verdict
        self.signedFields = signedFields
        self.partVerdicts = partVerdicts
    }

    /// The verdict on `part`.
    func verdict(on part: ReadableMessage.Part) -> ReadVerdict {
        guard let partVerdicts else { return verdict }
        return part.signature.flatMap { partVerdicts[$0] } ?? ReadVerdict(.neutral, "not signed")
    }

    /// Further remarks on the whole message, each a sentence.
    var allRemarks: [String] {
        let isSigned = verdict.isSigned || partVerdicts?.values.contains(where: \.isSigned) == true
        var seen: Set<String> = []
        let names = message.fields.map(\.name).filter {
            signedFields[$0.lowercased()] == nil && seen.insert($0).inserted
        }
        guard isSigned, !names.isEmpty else { return verdict.remarks }
        return verdict.remarks + ["not covered by the signature: \(names.joined(separator: ", "))"]
    }

    /// The header fields to show, each on one line.
    var shownFields: [(name: String, value: String)] {
        message.fields.map { field in
            (field.name, (signedFields[field.name.lowercased()] ?? field.value).asDisplayedLine)
        }
    }
}

extension ReadableMessage.Content {
    /// A description of the part on one line; nil for a text.
    var label: String? {
        switch self {
        case .attachment(let name, let type, let size):
            "attachment \(name.map { "'\($0.asFileLabel)'" } ?? "without a name"), \(type.asFileLabel), \(Self.size(size))"
        case .body: nil
        case .damaged(let type): "a damaged part of type \(type.asFileLabel)"
        case .encrypted: "an encrypted part, which was not decrypted"
        case .message: "a message in this message"
        }
    }

    /// A size such as `12 KB`; 1 KB is 1000 bytes.
    private static func size(_ count: Int) -> String {
        switch count {
        case ..<1000: "\(count) bytes"
        case ..<1_000_000: "\((count + 500) / 1000) KB"
        default: "\(count / 1_000_000).\(count / 100_000 % 10) MB"
        }
    }
}

extension String {
    /// The file name, made safe for smime's notices: it cannot close the quotes around it, start a new line, or be so long
    /// that the text after it is out of sight.
    fileprivate var asFileLabel: String {
        // Keeps the end of the name, which says what kind of file it is.
        let name = asDisplayedLine.replacing(scalar: "'", with: "_").withoutBrackets
        return name.count <= 80 ? name : "\(name.prefix(60))…\(name.suffix(19))"
    }

    /// The text with `_` in place of square brackets, which enclose the notices of smime.
    var withoutBrackets: String { replacing(scalar: "[", with: "_").replacing(scalar: "]", with: "_") }
}

extension ReadMail {
    /// The message as plain text for a terminal: the verdict on the first line, the header, the texts, and the attachments.
    ///
    /// Each line of the mail's texts has a bar in front, so that no text can pose as the verdict, as a field of the
    /// header or as a notice of smime. Notices begin with `[smime: `; brackets in the mail that begin like a notice are
    /// replaced.
    ///
    /// - Parameter columns: how many columns the terminal has.
    package func text(columns: Int = 80) -> String {
        var lines = verdict.sentence.asDisplayedLine.wrapped(to: columns, then: Self.indent)
        lines += allRemarks.flatMap { $0.asDisplayedLine.wrapped(to: columns, behind: "  ", then: Self.indent) }
        lines += [""]
        lines += shownFields.flatMap { $0.value.wrapped(to: columns, behind: "\($0.name): ", then: Self.indent) }
        var attached: [String] = []
        func notice(_ text: String) -> [String] {
            Self.isolated(text).wrapped(to: columns, behind: Self.prefix, then: Self.indent)
        }
        func body(_ text: String) -> [String] {
            Self.lines(Self.withoutNotices(text)).flatMap { $0.wrapped(to: columns, behind: Self.bar, then: Self.bar) }
        }
        for part in message.parts {
            let verdictText = partVerdicts == nil ? "" : ", \(verdict(on: part).sentence.asDisplayedLine)"
            switch part.content {
            case .body(let plain, let html):
                lines.append("")
                if partVerdicts != nil || message.parts.count > 1 {
                    lines += notice("part \(part.section)\(verdictText)")
                }
                lines += body(Self.words(plain, html: html))
                lines += (plain ?? html).map(Self.notes)?.flatMap(notice) ?? []
            case .message(let fields):
                lines += [""] + notice("part \(part.section)\(verdictText), a message in this message")
                lines += fields.flatMap { body("\($0.name): \($0.value.asDisplayedLine)") }
            case .attachment, .damaged, .encrypted:
                attached += notice("part \(part.section)\(verdictText), \(part.content.label ?? "")")
            }
        }
        if message.isCut { attached += notice("there are more parts, which are not shown") }
        if !attached.isEmpty { lines += [""] + attached }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let prefix = "[smime: "
    private static let bar = "| "
    /// Precedes the continuation of a wrapped verdict, header field or notice, so that no line begins with words of the
    /// mail.
    private static let indent = "    "

    /// Replaces the brackets in `text` and appends the bracket that closes a notice of smime. The caller adds the opening
    /// `[smime: `.
    private static func isolated(_ text: String) -> String { text.withoutBrackets + "]" }

    /// Notices about the parts of a text that are missing.
    static func notes(on text: BodyText) -> [String] {
        (text.isLeftOut ? ["the text is left out: the texts before it are too long"] : [])
            + (text.isCut && !text.isLeftOut ? ["the text is longer than is shown here"] : [])
            + (text.isDamaged ? ["the text is damaged and ends early"] : [])
    }

    /// The plain text; if there is none, the words of the HTML text.
    private static func words(_ plain: BodyText?, html: BodyText?) -> String {
        plain?.text ?? html.map { MailHTML($0.text).text } ?? ""
    }

    /// `text` with `_` in place of each `[` that looks like the beginning of a notice. Blanks, line ends and characters
    /// outside ASCII are skipped, because a window may wrap the lines again.
    private static func withoutNotices(_ text: String) -> String {
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

/// The verdict on a message or a part of it, shown above its text.
package struct ReadVerdict: Sendable {
    /// How far a reader may rely on the message; chooses a color.
    package enum Tone: String, Sendable {
        case bad, good, neutral
    }

    package let tone: Tone
    /// Whether a valid signature covers the message or part.
    package let isSigned: Bool
    /// One sentence without a full stop; it may contain names from the mail.
    package let sentence: String
    /// Further remarks for the reader, each a sentence.
    package let remarks: [String]

    /// - Parameter isSigned: whether a valid signature covers the message or part; nil means that one does if `tone` is
    ///   good.
    package init(_ tone: Tone, _ sentence: String, isSigned: Bool? = nil, remarks: [String] = []) {
        self.tone = tone
        self.isSigned = isSigned ?? (tone == .good)
        self.sentence = sentence
        self.remarks = remarks
    }
}
