import Foundation
import InternetMessage
import SMIME
import SMIMEAgent

/// Tags before the subject that show the verdict to people whose mail program does not show it.
///
/// The tags are reliable only if the received subject has none, so this type also removes tags.
struct VerdictTags {
    /// The text of the tag for a signed message whose status is not `valid`.
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

    /// The text of the tag for a valid signature with reservations.
    private static let doubtful = "signature doubtful"

    /// The text of the tag for a message that crashed the filter.
    static let unprocessed = "signature not checked"

    /// The tags, separated by blanks; empty for mail that is neither signed nor encrypted.
    private let text: String

    init(_ report: VerificationReport, wasDecrypted: Bool) {
        var tags = wasDecrypted ? ["[encrypted]"] : []
        if let address = report.plainSigner?.address {
            tags.append("[signed: \(address.filter { !"[]".contains($0) })]")
        } else if report.status == .valid {
            tags.append("[\(Self.doubtful)]")
        } else if !report.signers.isEmpty || report.layers.contains(where: { $0.kind == .signed }) {
            // A part that another person signed must not look as if the sender had signed it.
            let isForeign = report.status == .partial && report.signers.contains(where: \.isOtherThanSender)
            tags.append("[\(Self.name(isForeign ? .mismatch : report.status))]")
        }
        text = tags.joined(separator: " ")
    }

    /// The Subject `field` with the tags before the text, and without other tags.
    func apply(to field: HeaderField, lineEnd: LineEnd) -> [UInt8] {
        let shown = EncodedWord.decode(field.value, undecodable: .replaced)
        let clean = Self.removingAllTags(from: SubjectControls.removed(from: shown))
        // Some mail programs would decode text that still begins like an encoded word, and guess the charset of
        // undeclared bytes. If the text is encoded, all mail programs read it as this program does.
        let isAmbiguous = clean.contains("=?") || String(validating: field.bodyBytes, as: UTF8.self) == nil
        let isChanged = isAmbiguous || clean != EncodedWord.decode(field.value)
        guard !text.isEmpty || isChanged else { return Array(field.rawBytes) }
        let subject = isChanged ? EncodedWord.encode(clean) : field.value
        let tagged = text.isEmpty ? subject : "\(EncodedWord.encode(text)) \(subject)"
        return NewField(field.name, value: tagged).bytes(lineEnd: lineEnd)
    }

    /// The field for a message without a subject; nil if there are no tags.
    var field: NewField? { text.isEmpty ? nil : NewField("Subject", value: EncodedWord.encode(text)) }

    /// Removes tags repeatedly, because the text around a removed tag may form another tag.
    private static func removingAllTags(from subject: String) -> String {
        var scalars = Array(subject.unicodeScalars)
        if scalars.count <= maximumSubject {
            for _ in 0..<8 {
                let clean = removingTags(from: scalars)
                guard clean.count < scalars.count else { return String(clean) }
                scalars = clean
            }
        }
        // A very long subject or deep nesting would take too much time. Then only the brackets are removed: without them
        // there are no tags.
        let brackets = Set(SubjectSkeleton(scalars).glyphs.filter { "[]".contains($0.character) }.map(\.place))
        return String(scalars.indices.filter { !brackets.contains($0) }.map { scalars[$0] })
    }

    /// The maximum length of a subject in which tags are searched for, in characters; the same as for `SubjectTags`.
    private static let maximumSubject = SubjectTags.maximumSubject

    /// Removes tags by their appearance: a bracket of another script, or a bracket followed by a joiner, looks like a
    /// bracket.
    private static func removingTags(from subject: [Unicode.Scalar]) -> [Unicode.Scalar] {
        let glyphs = SubjectSkeleton(subject).glyphs
        var removed: [Range<Int>] = []
        var removedEnd = 0
        var start = glyphs.startIndex
        // Checks each section between two neighboring brackets; the subject's start and end count as brackets.
        while start <= glyphs.endIndex {
            let end = glyphs[start...].firstIndex { "[]".contains($0.character) } ?? glyphs.endIndex
            // The section right after a removed tag is skipped in this pass: its text may form a tag together with the text
            // before.
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

    /// The range of the tag: the text from `start` to `end` with the brackets around it; nil if the text is no tag.
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

/// Characters that change how a subject is shown: text direction, and control sequences of terminals.
///
/// UAX #9 §2, ECMA-48 §5.4, ECMA-35 §13
enum SubjectControls {
    /// `subject` without such characters. Undeclared ISO-2022-JP, which was used before encoded words, is decoded.
    static func removed(from subject: String) -> String {
        let japanese = subject.contains("\u{1B}") ? decodedJapanese(subject) : nil
        let scalars = Array((japanese ?? subject).unicodeScalars)
        guard scalars.contains(where: { isUnsafeControl($0) || SubjectSkeleton.isBidiControl($0) }) else {
            return japanese ?? subject
        }
        var output = String.UnicodeScalarView()
        var position = 0
        while position < scalars.count {
            if let end = sequenceEnd(at: position, in: scalars) {
                position = end
                continue
            }
            let scalar = scalars[position]
            if isUnsafeControl(scalar), scalar.properties.isWhitespace {
                output.append(" ")
            } else if !isUnsafeControl(scalar), !SubjectSkeleton.isBidiControl(scalar) {
                output.append(scalar)
            }
            position += 1
        }
        return String(output)
    }

    /// Whether `scalar` is a control character other than the tab, or a line or paragraph separator.
    private static func isUnsafeControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\t"
        case .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The end of the control sequence that begins at `start`; nil if there is none. A sequence without parameters is
    /// accepted only if it sets colors: mail programs that do not know control sequences show a letter and a bracket.
    private static func sequenceEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int? {
        var position = start
        switch scalars[start] {
        case "\u{9B}": position += 1
        case "\u{1B}" where start + 1 < scalars.count && scalars[start + 1] == "[": position += 2
        default: return nil
        }
        let parameters = scalars[position...].prefix { 0x20...0x3F ~= $0.value }
        guard parameters.endIndex < scalars.count, 0x40...0x7E ~= scalars[parameters.endIndex].value,
            !parameters.isEmpty || scalars[parameters.endIndex] == "m"
        else { return nil }
        return parameters.endIndex + 1
    }

    /// `subject` decoded from ISO-2022-JP; nil unless it switches to a Japanese character set and is valid.
    private static func decodedJapanese(_ subject: String) -> String? {
        guard ["\u{1B}$B", "\u{1B}$@"].contains(where: subject.contains), subject.utf8.allSatisfy({ $0 < 0x80 }) else {
            return nil
        }
        let word = "=?iso-2022-jp?B?\(Data(subject.utf8).base64EncodedString())?="
        let decoded = EncodedWord.decode(word)
        return decoded == word ? nil : decoded
    }
}
