import CMS
import MIME
import SMIME

/// Words in front of a subject that tell the verdict to people whose program shows none.
///
/// They can be believed only where those that come from outside are taken out, so both go together.
struct VerdictTags {
    /// What stands in the tags of signatures that are not valid, by what is wrong.
    private static func name(_ status: VerificationReport.Status) -> String {
        switch status {
        case .expired: "signature expired"
        case .mismatch: "signed by another sender"
        case .notYetValid: "signature not yet valid"
        case .partial: "partly signed"
        case .revoked: "signature revoked"
        case .untrusted: "signature untrusted"
        case .weak: "signature weak"
        case .invalid, .malformed, .unsigned, .valid: "signature INVALID"
        }
    }

    /// What stands in the tag of a signature that is valid, and leaves something open.
    private static let doubtful = "signature doubtful"

    /// What stands in the tag of a message at which the filter died.
    static let unprocessed = "signature not checked"

    /// What others may have written: our tags, and what might be taken for one.
    private static let names = Set(
        [.expired, .invalid, .notYetValid, .partial, .revoked, .untrusted, .weak].map { name($0).lowercased() }
            + [doubtful, unprocessed, "encrypted", "signature valid", "signed"]
    )

    /// What stands in front of the subject, with a blank behind it; empty for mail that is neither signed nor encrypted.
    private let text: String

    init(_ report: VerificationReport, wasDecrypted: Bool) {
        var tags = wasDecrypted ? ["[encrypted]"] : []
        if let address = report.plainSigner?.address {
            tags.append("[signed: \(address.filter { !"[]".contains($0) })]")
        } else if report.status == .valid {
            tags.append("[\(Self.doubtful)]")
        } else if !report.signers.isEmpty || report.layers.contains(where: { $0.kind == .signed }) {
            tags.append("[\(Self.name(report.status))]")
        }
        text = tags.joined(separator: " ")
    }

    /// The Subject `field` with the tags in front, and without those of others.
    func apply(to field: HeaderField, lineEnd: LineEnd) -> [UInt8] {
        let shown = EncodedWord.decode(field.value, else: .replaced)
        let clean = Self.removingAllTags(from: shown)
        // What still begins like an encoded word some reader may decode, and bytes in a character set that nothing names some
        // reader may guess; encoded they are what they are to us.
        let isAmbiguous = clean.contains("=?") || String(validating: field.bodyBytes, as: UTF8.self) == nil
        let isChanged = isAmbiguous || clean != EncodedWord.decode(field.value)
        guard !text.isEmpty || isChanged else { return Array(field.rawBytes) }
        let subject = isChanged ? EncodedWord.encode(clean) : field.value
        let tagged = text.isEmpty ? subject : "\(EncodedWord.encode(text)) \(subject)"
        return NewField(field.name, tagged).bytes(lineEnd: lineEnd)
    }

    /// The field for a message that has no subject; nil if there is nothing to say.
    var field: NewField? { text.isEmpty ? nil : NewField("Subject", EncodedWord.encode(text)) }

    /// What is left of one may be a tag again, which stood around it.
    private static func removingAllTags(from subject: String) -> String {
        let all = Array(subject.unicodeScalars)
        // What turns the order round would make a tag of what is none to us.
        var scalars =
            all.contains(where: SubjectSkeleton.isBidiControl)
            ? all.filter { !SubjectSkeleton.isBidiControl($0) } : all
        if scalars.count <= maximumSubject {
            for _ in 0..<8 {
                let clean = removingTags(from: scalars)
                guard clean.count < scalars.count else { return String(clean) }
                scalars = clean
            }
        }
        // Very long ones, or ones nested deeper, are there to keep us busy; without brackets there are no tags.
        let brackets = Set(SubjectSkeleton(scalars).glyphs.filter { "[]".contains($0.character) }.map(\.place))
        return String(scalars.indices.filter { !brackets.contains($0) }.map { scalars[$0] })
    }

    /// How long a subject may be in which tags are looked for, in characters; as for the tags of `SubjectTags`.
    private static let maximumSubject = SubjectTags.maximumSubject

    /// By what is seen: a bracket of another script, or one with a joiner behind it, looks like a bracket.
    private static func removingTags(from subject: [Unicode.Scalar]) -> [Unicode.Scalar] {
        let glyphs = SubjectSkeleton(subject).glyphs
        var removed: [Range<Int>] = []
        var position = 0
        while let open = glyphs[position...].firstIndex(where: { $0.character == "[" }) {
            let inner = glyphs[(open + 1)...].prefix { $0.character != "]" && $0.character != "[" }
            let close = inner.endIndex
            guard close < glyphs.count, glyphs[close].character == "]", isTag(String(inner.map(\.character))) else {
                // The next bracket is where it ends, or further on.
                position = close
                continue
            }
            let rest = subject[(glyphs[close].place + 1)...]
            let end = rest.firstIndex { !$0.properties.isWhitespace && !SubjectSkeleton.isUnseen($0) }
            removed.append(glyphs[open].place..<(end ?? subject.count))
            position = close + 1
        }
        guard !removed.isEmpty else { return subject }
        var output: [Unicode.Scalar] = []
        var start = 0
        for range in removed where range.lowerBound >= start {
            output += subject[start..<range.lowerBound]
            start = range.upperBound
        }
        return output + subject[start...]
    }

    private static func isTag(_ inner: String) -> Bool {
        let words = inner.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        if names.contains(words) { return true }
        guard words.hasPrefix("signed") else { return false }
        // Behind the word a name follows after whatever sign.
        let rest = words.dropFirst("signed".count)
        return rest.hasPrefix(" by ") || rest.first { $0 != " " }.map { !$0.isLetter && !$0.isNumber } ?? true
    }
}

extension String {
    fileprivate init(_ scalars: [Unicode.Scalar]) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
