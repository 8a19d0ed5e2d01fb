import InternetMessage
import SMIME
import SMIMEAgent

/// Words in front of a subject that tell the verdict to people whose program shows none.
///
/// They can be believed only where those that come from outside are taken out, so both go together.
struct VerdictTags {
    /// The text in the tag of an invalid signature, by the status.
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

    /// The text in the tag of a valid signature with reservations.
    private static let doubtful = "signature doubtful"

    /// The text in the tag of a message that crashed the filter.
    static let unprocessed = "signature not checked"

    /// The tags before the subject, followed by a blank; empty for mail that is neither signed nor encrypted.
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
        let clean = Self.removingAllTags(from: SubjectControls.removed(from: shown))
        // Some readers would decode text that still begins like an encoded word, and guess the charset of undeclared
        // bytes. Encoding both makes all readers agree with us.
        let isAmbiguous = clean.contains("=?") || String(validating: field.bodyBytes, as: UTF8.self) == nil
        let isChanged = isAmbiguous || clean != EncodedWord.decode(field.value)
        guard !text.isEmpty || isChanged else { return Array(field.rawBytes) }
        let subject = isChanged ? EncodedWord.encode(clean) : field.value
        let tagged = text.isEmpty ? subject : "\(EncodedWord.encode(text)) \(subject)"
        return NewField(field.name, value: tagged).bytes(lineEnd: lineEnd)
    }

    /// The field for a message that has no subject; nil if there is nothing to say.
    var field: NewField? { text.isEmpty ? nil : NewField("Subject", value: EncodedWord.encode(text)) }

    /// The rest around a removed tag may be a tag itself.
    private static func removingAllTags(from subject: String) -> String {
        var scalars = Array(subject.unicodeScalars)
        if scalars.count <= maximumSubject {
            for _ in 0..<8 {
                let clean = removingTags(from: scalars)
                guard clean.count < scalars.count else { return String(clean) }
                scalars = clean
            }
        }
        // A very long subject or deep nesting would only cost time, and without brackets there are no tags.
        let brackets = Set(SubjectSkeleton(scalars).glyphs.filter { "[]".contains($0.character) }.map(\.place))
        return String(scalars.indices.filter { !brackets.contains($0) }.map { scalars[$0] })
    }

    /// How long a subject may be in which tags are looked for, in characters; as for the tags of `SubjectTags`.
    private static let maximumSubject = SubjectTags.maximumSubject

    /// Compares appearance: a bracket of another script, or one followed by a joiner, looks like a bracket.
    private static func removingTags(from subject: [Unicode.Scalar]) -> [Unicode.Scalar] {
        let glyphs = SubjectSkeleton(subject).glyphs
        var removed: [Range<Int>] = []
        var removedEnd = 0
        var start = glyphs.startIndex
        // From each bracket, or the start, to the next one, or the end.
        while start <= glyphs.endIndex {
            let end = glyphs[start...].firstIndex { "[]".contains($0.character) } ?? glyphs.endIndex
            // Text after a removed tag may form a tag with the text before it.
            if start == 0 || start != removedEnd, let tag = tag(in: glyphs, between: start, and: end) {
                removedEnd = tag.upperBound
                let rest = subject[(glyphs[tag.upperBound - 1].place + 1)...]
                let next = rest.firstIndex { !$0.properties.isWhitespace && !SubjectSkeleton.isUnseen($0) }
                removed.append(glyphs[tag.lowerBound].place..<(next ?? subject.count))
            }
            start = end + 1
        }
        guard !removed.isEmpty else { return subject }
        var output: [Unicode.Scalar] = []
        var position = 0
        for range in removed where range.lowerBound >= position {
            output += subject[position..<range.lowerBound]
            position = range.upperBound
        }
        return output + subject[position...]
    }

    /// The range of the tag: the text from `start` to `end` and the brackets around it; nil if there are no brackets.
    private static func tag(
        in glyphs: [SubjectSkeleton.Glyph],
        between start: Int,
        and end: Int
    ) -> Range<Int>? {
        let isOpened = start > 0 && glyphs[start - 1].character == "["
        let isClosed = end < glyphs.count && glyphs[end].character == "]"
        guard start < end, isOpened || isClosed else { return nil }
        let text = BracketedText(glyphs[start..<end])
        switch (isOpened, isClosed) {
        case (true, true): return text.isTag ? start - 1..<end + 1 : nil
        case (true, false): return text.unclosedTagCount.map { start - 1..<start + $0 }
        default: return text.isUnopenedTag ? start..<end + 1 : nil
        }
    }
}

extension String {
    fileprivate init(_ scalars: [Unicode.Scalar]) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
