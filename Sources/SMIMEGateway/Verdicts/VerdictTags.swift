import InternetMessage
import SMIME
import SMIMEAgent

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
        let clean = Self.removingAllTags(from: SubjectControls.removed(from: shown))
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
        var scalars = Array(subject.unicodeScalars)
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
        var removedEnd = 0
        var start = glyphs.startIndex
        // From each bracket, or the start, to the next one, or the end.
        while start <= glyphs.endIndex {
            let end = glyphs[start...].firstIndex { "[]".contains($0.character) } ?? glyphs.endIndex
            // What follows a tag may be one with what stands in front of that, once it is gone.
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

    /// Where the tag stands that the text from `start` to `end` makes with the brackets around it; nil if it makes none.
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
