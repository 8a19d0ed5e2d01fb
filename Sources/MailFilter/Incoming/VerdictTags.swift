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

    /// What others may have written: our tags, and what might be taken for one.
    private static let names = Set(
        [.expired, .invalid, .notYetValid, .partial, .revoked, .untrusted, .weak].map { name($0).lowercased() }
            + ["encrypted", "signature valid", "signed"]
    )
    private static let prefixes = ["signed:", "signed :", "signed by "]

    /// What stands in front of the subject, with a blank behind it; empty for mail that is neither signed nor encrypted.
    private let text: String

    init(_ report: VerificationReport, wasDecrypted: Bool) {
        var tags = wasDecrypted ? ["[encrypted]"] : []
        if report.status == .valid, let address = report.signers.first?.address {
            tags.append("[signed: \(address.filter { !"[]".contains($0) })]")
        } else if !report.signers.isEmpty || report.layers.contains(where: { $0.kind == .signed }) {
            tags.append("[\(Self.name(report.status))]")
        }
        text = tags.joined(separator: " ")
    }

    /// The Subject `field` with the tags in front, and without those of others.
    func apply(to field: HeaderField, lineEnd: LineEnd) -> [UInt8] {
        let shown = field.displayValue
        var clean = Self.removingAllTags(from: shown)
        let guessed = EncodedWord.decode(clean, replacing: true)
        if case let cleanGuess = Self.removingAllTags(from: guessed), cleanGuess != guessed { clean = cleanGuess }
        guard !text.isEmpty || clean != shown else { return Array(field.rawBytes) }
        let subject = clean == shown ? field.value : EncodedWord.encode(clean)
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
        // Whoever writes very long ones, or nests them deeper, wants to keep us busy; without brackets there are no tags.
        return String(scalars.filter { $0 != "[" && $0 != "]" })
    }

    /// How long a subject may be in which tags are looked for, in characters; as for the tags of `SubjectTags`.
    private static let maximumSubject = SubjectTags.maximumSubject

    /// By scalars, and without those that nobody sees: a bracket with a joiner behind it looks like a bracket.
    private static func removingTags(from subject: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var output: [Unicode.Scalar] = []
        var rest = subject[...]
        while let open = rest.firstIndex(of: "[") {
            output += rest[..<open]
            rest = rest[open...]
            let inner = rest.dropFirst().prefix { $0 != "]" && $0 != "[" }
            if inner.endIndex < rest.endIndex, rest[inner.endIndex] == "]", isTag(inner) {
                rest = rest[(inner.endIndex + 1)...]
                rest = rest.drop { $0.properties.isWhitespace || isUnseen($0) }
            } else {
                // The next bracket is where it ends, or further on.
                output += rest[..<inner.endIndex]
                rest = rest[inner.endIndex...]
            }
        }
        output += rest
        return output
    }

    private static func isTag(_ inner: ArraySlice<Unicode.Scalar>) -> Bool {
        var seen = String.UnicodeScalarView()
        for scalar in inner where !isUnseen(scalar) { seen.append(scalar) }
        let words = String(seen).lowercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return names.contains(words) || prefixes.contains { words.hasPrefix($0) }
    }

    /// Whether `scalar` shows nothing by itself; marks that are set over others count, too.
    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.generalCategory == .nonspacingMark
    }
}

extension String {
    fileprivate init(_ scalars: [Unicode.Scalar]) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
