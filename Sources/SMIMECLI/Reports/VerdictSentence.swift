import InternetMessage
import PKIX
import SMIME

/// A verification report as a person reads it: one sentence, the five axes on a line, and what to do next.
///
/// This is the only place that words a verdict. Nothing is said as a fact that the report does not prove: a name counts
/// only from a certificate that is trusted, over content that is unchanged. The texts hold names out of mail; the caller
/// escapes them for display, as `Console` does.
struct VerdictSentence {
    /// One sentence without a full stop, as `Valid: signed by alice@example.org`.
    let text: String
    /// The axes of the signature that the verdict is about; empty if there is none.
    let axes: [VerdictAxis]
    /// What to do about a verdict that is not valid; nil if it is valid.
    let step: VerdictStep?
    /// Whether the verdict is valid.
    let isValid: Bool
    /// The problems that the sentence does not mention and that a reader should know.
    let remarks: [Problem]

    /// - Parameters:
    ///   - file: the message as the command line names it; nil for standard input.
    ///   - verb: the command that the user ran, for commands that repeat it.
    ///   - context: what the store knows of the signer.
    init(
        _ report: VerificationReport,
        file: String?,
        verb: String = "verify",
        context: SignerContext = SignerContext()
    ) {
        let signer = report.decidingSigner
        let words = VerdictWords(report, signer, context: context)
        text = words.sentence
        axes = signer.map(VerdictAxis.all) ?? []
        isValid = report.status == .valid
        step =
            isValid
            ? nil : VerdictStep(report, signer, about: words.problem, context: context, file: file, verb: verb)
        var told = Set([words.problem].compactMap(\.self))
        remarks = report.toldProblems.filter { problem in
            // The axis shows it already, and for most mail it is unknown.
            guard problem.kind != .revocationUnknown || problem.level == .error else { return false }
            return told.insert(problem).inserted
        }
    }

    /// The axes on one line, with ticks, or with words in a locale that has none; nil if there are none.
    func axesLine(inUnicode: Bool = Terminal.isUnicode) -> String? {
        axes.isEmpty ? nil : axes.map { $0.text(inUnicode: inUnicode) }.joined(separator: "  ")
    }

    /// The sentence up to its colon, which a terminal shows in color, and the rest.
    var parts: (verdict: String, rest: String) {
        guard let end = text.firstIndex(of: ":") else { return (text, "") }
        return (String(text[...end]), String(text[text.index(after: end)...]))
    }
}

extension VerificationReport {
    /// The signer whose signature the verdict follows from; nil if there is none.
    var decidingSigner: Signer? { signers.first { self.status(of: $0) == status } ?? signers.first }

    /// The problems of the message and of all its layers and signers, errors first.
    fileprivate var toldProblems: [Problem] {
        let all = problems + layers.flatMap(\.problems) + layers.flatMap(\.signers).flatMap(\.problems)
        return all.filter { $0.level == .error } + all.filter { $0.level == .warning }
    }
}
