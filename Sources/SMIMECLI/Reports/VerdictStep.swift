import Foundation
import PKIX
import SMIME
import SMIMEStore

/// What to do about a verdict that is not valid: a condition, and the command that helps.
struct VerdictStep {
    /// The condition for running the command, or its purpose, such as `compare the fingerprint with bob@example.org, but not
    /// by mail, then`.
    let reason: String
    /// The command with all its arguments.
    let command: String
    /// Another step that would help as well, as a hint; nil if there is none.
    private var alternative: String?

    /// The step as a hint.
    var text: String { "\(reason): \(command)" }
    /// The step and the other step, as hints.
    var texts: [String] { [text] + [alternative].compactMap(\.self) }

    init(reason: String, command: String) {
        self.reason = reason
        self.command = command
    }

    /// - Parameters:
    ///   - signer: the signer whose signature decides the verdict.
    ///   - problem: the problem that the verdict states.
    ///   - context: what the store knows about the signer.
    ///   - file: the message's name on the command line; nil for standard input.
    ///   - verb: the command that the user ran.
    init(
        _ report: VerificationReport,
        _ signer: VerificationReport.Signer?,
        about problem: Problem?,
        context: SignerContext,
        file: String?,
        verb: String
    ) {
        let file = file.map(Self.argument) ?? "FILE"
        let known =
            switch report.status {
            case .valid, .malformed: (String, String)?.none
            case .unsigned: Self.unsigned(report, file)
            // Certificates are only taken from mail that is signed as a whole.
            case .untrusted where report.coverage == .part && problem?.kind == .chainNoAnchor && !context.isOwn:
                (String, String)?.none
            case .untrusted: Self.untrusted(signer, problem, context: context, file: file, verb: verb)
            case .expired: Self.expired(signer, problem, file: file, verb: verb)
            case .notYetValid: Self.notYetValid(signer, file: file, verb: verb)
            case .mismatch: Self.mismatch(problem, file: file, verb: verb)
            // `inspect` does not decrypt.
            case .partial: ("which part is signed", "smime \(verb == "decrypt" ? "read" : "inspect") \(file)")
            case .weak: ("if it is old mail that you expected", "smime \(verb) --accept-weak \(file)")
            case .invalid: Self.invalid(problem)
            case .revoked: ("what this means", "smime explain \((problem?.kind ?? .certificateRevoked).rawValue)")
            }
        self = known.map { Self(reason: $0.0, command: $0.1) } ?? Self(explaining: problem)
        guard report.status == .untrusted, report.coverage == .whole, problem?.kind == .chainNoAnchor, let signer else {
            return
        }
        alternative = Self.authority(above: signer, context: context, file: file)
    }

    /// The step that trusts the authority in place of the signer, or adds the authority's certificate if the message does
    /// not contain it; nil if there is no authority, or if the signer is possibly not the person that the message names.
    private static func authority(
        above signer: VerificationReport.Signer,
        context: SignerContext,
        file: String
    ) -> String? {
        guard !context.isOwn, context.difference == nil, signer.identity.ok != false, let highest = signer.path.last
        else { return nil }
        guard signer.path.count > 1 else {
            return highest.isSelfIssued
                ? nil : "or, if you have the certificate of \(highest.issuer): smime import FILE-OF-THE-ISSUER"
        }
        return "or trust every certificate that \(highest.issuer.shortName) issued: smime trust add \(file)"
    }

    /// The name of a file as an argument in a shell; one that starts with `-` must not be parsed as an option.
    static func argument(_ file: String) -> String { file.hasPrefix("-") ? "\(shell: "./\(file)")" : "\(shell: file)" }

    /// The step for a problem that no command solves: the command that explains the problem.
    init(explaining problem: Problem?) {
        reason = "what this means and what to do"
        command = "smime explain \((problem?.kind ?? .malformed).rawValue)"
    }

    private static func unsigned(_ report: VerificationReport, _ file: String) -> (String, String) {
        if report.undecrypted != nil {
            return ("to read it, with the verdict on its content", "smime read \(file)")
        }
        if report.hasOnlyCertificates { return ("to import the certificates", "smime import \(file)") }
        return ("what is in it", "smime inspect \(file)")
    }

    private static func untrusted(
        _ signer: VerificationReport.Signer?,
        _ problem: Problem?,
        context: SignerContext,
        file: String,
        verb: String
    ) -> (String, String)? {
        guard let certificate = signer?.certificate, let address = signer?.address else { return nil }
        let show = "smime \(context.isAccount ? "account" : "recipient") show \(shell: address)"
        switch problem?.kind {
        case .chainNoAnchor where context.isOwn:
            return context.chainEnd.map(Self.completed)
        // The certificate may be forged, so do not suggest pinning it.
        case .some where context.difference != nil && signer?.chain.holds == false && problem?.kind != .chainDistrusted:
            return ("it may be forged; to see what is known", show)
        // The mail does not prove who sent it, so do not suggest pinning its certificate.
        case .chainNoAnchor where signer?.identity.ok == false:
            let mismatch = signer?.identity.problems.first { $0.level == .error }
            let isOther = signer?.isOtherThanFrom == true
            let state = isOther ? "From names another sender" : "it is not certain who the sender is"
            return (
                "\(state); what this means",
                "smime explain \((mismatch?.kind ?? .signerNotFrom).rawValue)"
            )
        case .chainNoAnchor:
            return (
                "compare the fingerprint with \(address), but not by mail, then",
                "smime recipient trust \(shell: address) --from \(file) --fingerprint \(certificate.fingerprint)"
            )
        case .chainDistrusted: return ("to see what you decided", "smime recipient show \(shell: address)")
        // Asking again would give the same answer.
        case .revocationUnknown where Invocation.current.options.contains("--online"):
            return signer?.unknownRevocation.map {
                ("if you have the revocation list of \($0.issuer.shortName)", "smime import FILE-OF-THE-LIST")
            }
        case .revocationUnknown:
            // The repeated command contains the revocation policy that the user gave.
            let demand = Invocation.current.value(of: "--revocation").map { " --revocation \(shell: $0)" } ?? ""
            return ("to ask its authority", "smime \(verb) --online\(demand) \(file)")
        default: return nil
        }
    }

    /// The step for a certificate of the user whose chain ends at `end`.
    private static func completed(_ end: ChainEnd) -> (String, String) {
        switch end {
        case .root(let root):
            ("the certificate is yours; to trust \(root.subject)", "smime trust add \(root.fingerprint)")
        case .missingIssuer(let last):
            ("the certificate is yours; to add the certificate of \(last.issuer)", "smime import FILE-OF-THE-ISSUER")
        }
    }

    /// The step for a signature that was valid when it was made: judge it as of that time. Only the signer's clock says when
    /// that was, and the whole chain must have been valid at that time.
    private static func expired(
        _ signer: VerificationReport.Signer?,
        _ problem: Problem?,
        file: String,
        verb: String
    ) -> (String, String)? {
        guard let signer, let validity = validity(of: signer) else { return nil }
        if let claimed = signer.signingTime, validity.contains(claimed) {
            return (
                "if you have had the mail since the signing time that it states, judge it as of that time",
                "smime \(verb) --time \(claimed.timestamp) \(file)"
            )
        }
        guard problem?.kind == .certificateExpired else { return nil }
        return (
            "if you had the mail before the certificate expired, judge it as of the last day of that certificate",
            "smime \(verb) --time \(validity.upperBound.timestamp) \(file)"
        )
    }

    private static func notYetValid(
        _ signer: VerificationReport.Signer?,
        file: String,
        verb: String
    ) -> (String, String)? {
        signer.flatMap(validity).map {
            (
                "check your clock; to judge the mail as of the certificate's first day",
                "smime \(verb) --time \($0.lowerBound.timestamp) \(file)"
            )
        }
    }

    /// The period in which all certificates of the signer's chain are valid; nil if there is none.
    private static func validity(of signer: VerificationReport.Signer) -> ClosedRange<Date>? {
        guard let start = signer.path.map(\.notBefore).max(), let end = signer.path.map(\.notAfter).min() else {
            return nil
        }
        return start <= end ? start...end : nil
    }

    private static func mismatch(_ problem: Problem?, file: String, verb: String) -> (String, String)? {
        guard problem?.kind == .signerIsSender else { return nil }
        return ("if Sender may send for From", "smime \(verb) --accept-sender \(file)")
    }

    private static func invalid(_ problem: Problem?) -> (String, String)? {
        guard problem?.kind == .signerCertificateMissing else { return nil }
        return ("import the signer's certificate first", "smime import CERTIFICATE-FILE")
    }
}
