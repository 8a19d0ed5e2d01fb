import InternetMessage
package import SMIME

/// A message with the verdicts on it, ready to be shown as text or as a page.
package struct ReadMail: Sendable {
    /// The message, as far as it could be opened.
    package let message: ReadableMessage
    /// The verdict on the whole message.
    package let verdict: ReadVerdict
    /// The header fields that a signature proves, by their names in lower case. They replace the outer fields.
    package let provenFields: [String: String]
    /// The verdicts on parts, by the section of their signature; nil if the verdict on the whole message applies to each
    /// part.
    package let partVerdicts: [String: ReadVerdict]?

    package init(
        _ message: ReadableMessage,
        _ verdict: ReadVerdict,
        provenFields: [String: String] = [:],
        partVerdicts: [String: ReadVerdict]? = nil
    ) {
        self.message = message
        self.verdict = verdict
        self.provenFields = provenFields
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
            provenFields[$0.lowercased()] == nil && seen.insert($0).inserted
        }
        guard isSigned, !names.isEmpty else { return verdict.remarks }
        return verdict.remarks + ["not covered by the signature: \(names.joined(separator: ", "))"]
    }

    /// The header fields to show, each on one line.
    var shownFields: [(name: String, value: String)] {
        message.fields.map { field in
            (field.name, (provenFields[field.name.lowercased()] ?? field.value).asDisplayedLine)
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
        case .encrypted: "an encrypted part, which is not opened beside others"
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
