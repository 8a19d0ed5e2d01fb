import InternetMessage
import PKIX
import SMIME

/// A verification report for a person: one sentence, the five axes on a line, and what to do next.
///
/// `VerdictWords` chooses the sentence. The sentence states nothing as a fact that the report does not show: it says `signed by
/// NAME` only if the content is unchanged and the certificate is trusted. The texts may contain names from the mail; the
/// caller must escape them for display, as `Console` does.
struct VerdictSentence {
    /// One sentence without a full stop, such as `Valid: signed by alice@example.org`.
    let text: String
    /// The axes of the signature that decides the verdict; empty if there are no signatures.
    let axes: [VerdictAxis]
    /// What to do about a verdict that is not valid; nil if it is valid.
    let step: VerdictStep?
    /// Whether the verdict is valid.
    let isValid: Bool
    /// The problems that the sentence does not mention but a reader should know.
    let remarks: [Problem]

    /// - Parameters:
    ///   - file: the message's name on the command line; nil for standard input.
    ///   - verb: the command that the user ran, for hints that repeat the command.
    ///   - context: what the store knows about the signer.
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
        var reported = Set([words.problem].compactMap(\.self))
        remarks = report.reportedProblems.filter { problem in
            // The axis already shows this problem, and for most mail the revocation status is unknown.
            guard problem.kind != .revocationUnknown || problem.level == .error else { return false }
            return reported.insert(problem).inserted
        }
    }

    /// The axes on one line; with ticks, or with words in a locale without these characters. Nil if there are no axes.
    func axesLine(inUnicode: Bool = Terminal.isUnicode) -> String? {
        axes.isEmpty ? nil : axes.map { $0.text(inUnicode: inUnicode) }.joined(separator: "  ")
    }

    /// The sentence up to its colon, which a terminal shows in color, and the rest of the sentence.
    var parts: (verdict: String, rest: String) {
        guard let end = text.firstIndex(of: ":") else { return (text, "") }
        return (String(text[...end]), String(text[text.index(after: end)...]))
    }
}

extension VerificationReport {
    /// The signer whose signature decides the verdict, or else the first signer; nil if there are no signers. If
    /// several signatures decide the verdict, the sender's is preferred, not the first one: anyone can add a signature
    /// before the sender's.
    var decidingSigner: Signer? {
        let deciding = signers.filter { self.status(of: $0) == status }
        return deciding.first { $0.cosigning == nil } ?? deciding.first ?? signers.first
    }

    /// The problems of the message, of all its layers, and of the signers who determine the verdict, errors first. An error of
    /// an inner signature that does not affect the verdict becomes a warning that names its signer.
    fileprivate var reportedProblems: [Problem] {
        let inner = layers.filter { !$0.isDecisive }.flatMap(\.signers)
            .flatMap { signer in
                signer.problems.filter { $0.level == .error }
                    .map { Problem(warning: $0.kind, "a signature inside, which names \(signer.name): \($0.text)") }
            }
        let all = problems + layers.flatMap(\.problems) + signers.flatMap(\.problems) + inner
        return all.filter { $0.level == .error } + all.filter { $0.level == .warning }
    }
}

/// One of the five axes of a signature, shown as a tick.
struct VerdictAxis {
    /// The state of an axis.
    enum State: String {
        case ok, failed, unknown
    }

    /// The name of the axis in one or two words, such as `unchanged`.
    let name: String
    let state: State

    /// The axes of `signer`, in the order in which they are shown.
    ///
    /// The axis `sender` is `ok` only if the content is unchanged and the chain is trusted: otherwise anyone could have made the
    /// certificate that names the sender. The axis `trusted` is `ok` only if the content is unchanged: otherwise an attacker
    /// may have chosen the certificate.
    static func all(of signer: VerificationReport.Signer) -> [VerdictAxis] {
        let isProven = signer.integrity.holds && signer.chain.holds
        let sender = signer.isOtherThanSender ? State.failed : state(signer.identity)
        let trusted = state(signer.chain)
        return [
            VerdictAxis(name: "unchanged", state: integrity(of: signer)),
            VerdictAxis(name: "sender", state: sender == .ok && !isProven ? .unknown : sender),
            VerdictAxis(
                name: "trusted",
                state: trusted == .ok && !signer.integrity.holds ? .unknown : trusted
            ),
            VerdictAxis(name: "revocation", state: revocation(of: signer)),
            VerdictAxis(name: "in time", state: state(signer.time)),
        ]
    }

    /// The state of the integrity axis. Without the signer's certificate, it is unknown whether the content was changed.
    private static func integrity(of signer: VerificationReport.Signer) -> State {
        signer.certificate == nil && !signer.isContentChanged ? .unknown : state(signer.integrity)
    }

    /// The state of the revocation axis. An unknown status is not shown as failed, even if the caller requires a known
    /// status.
    private static func revocation(of signer: VerificationReport.Signer) -> State {
        signer.isRevocationUnknown ? .unknown : state(signer.revocation)
    }

    private static func state(_ axis: VerificationReport.Axis) -> State {
        axis.ok.map { $0 ? .ok : .failed } ?? .unknown
    }

    /// The tick and the name.
    func text(inUnicode: Bool) -> String { "\(inUnicode ? tick : word) \(name)" }

    private var tick: String {
        switch state {
        case .ok: "✓"
        case .failed: "✗"
        case .unknown: "?"
        }
    }

    private var word: String {
        switch state {
        case .ok: "[ok]"
        case .failed: "[NO]"
        case .unknown: "[?]"
        }
    }
}

extension ProblemCode {
    /// `advice`, with the command to run if there is one.
    var commandAdvice: String {
        switch self {
        case .certificateExpired: "ask the owner for the new certificate; older mail can be judged with --time"
        case .chainNoAnchor:
            """
            if you know the root: smime trust add FILE-OR-MAIL. If an issuer is missing: smime import FILE. Or compare \
            fingerprints: smime recipient trust ADDR
            """
        case .crlExpired, .signerCertificateMissing: "\(advice): smime import FILE"
        case .headerDiffers, .headerUnprotected: "\(advice): smime verify --verbose FILE"
        case .revocationUnknown:
            "ask the authority's service: smime verify --online FILE. Or \(advice): smime import FILE"
        case .crlUnreadable: "\(advice): smime store check --repair"
        case .encrypted: "smime decrypt FILE shows the signatures"
        case .notLearned: "smime verify FILE says what is wrong with the signature"
        default: advice
        }
    }
}
