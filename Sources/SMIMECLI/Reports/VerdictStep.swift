import Foundation
import PKIX
import SMIME

/// What to do about a verdict that is not valid: a reason, and the one command that helps.
struct VerdictStep {
    /// When the command is right, as `compare the fingerprint with bob@example.org first`.
    let reason: String
    /// The command, with everything filled in.
    let command: String

    /// The step as a hint.
    var text: String { "\(reason): \(command)" }

    /// - Parameters:
    ///   - signer: the signer whose signature the verdict follows from.
    ///   - problem: the problem that the verdict tells.
    ///   - file: the message as the command line names it; nil for standard input.
    ///   - verb: the command that the user ran.
    init(
        _ report: VerificationReport,
        _ signer: VerificationReport.Signer?,
        about problem: Problem?,
        file: String?,
        verb: String
    ) {
        let file = file.map { $0.hasPrefix("-") ? "\(shell: "./\($0)")" : "\(shell: $0)" } ?? "FILE"
        let known =
            switch report.status {
            case .valid, .malformed: (String, String)?.none
            case .unsigned: Self.unsigned(report, file)
            case .untrusted: Self.untrusted(signer, problem, file, verb)
            case .expired: Self.expired(signer, problem, file, verb)
            case .notYetValid: Self.notYetValid(signer, file, verb)
            case .mismatch: Self.mismatch(signer, problem, file, verb)
            case .partial: ("which part is signed", "smime inspect \(file)")
            case .weak: ("if it is old mail that you expected", "smime \(verb) --accept-weak \(file)")
            case .invalid: Self.invalid(problem)
            case .revoked: ("what this means", "smime explain \((problem?.kind ?? .certificateRevoked).rawValue)")
            }
        (reason, command) =
            known ?? ("what this means and what to do", "smime explain \((problem?.kind ?? .malformed).rawValue)")
    }

    private static func unsigned(_ report: VerificationReport, _ file: String) -> (String, String) {
        let kinds = Set(report.problems.map(\.kind))
        if kinds.contains(.encrypted) { return ("to decrypt it and check it", "smime decrypt \(file)") }
        if kinds.contains(.certificatesOnly) { return ("to take the certificates in", "smime import \(file)") }
        return ("what is in it", "smime inspect \(file)")
    }

    private static func untrusted(
        _ signer: VerificationReport.Signer?,
        _ problem: Problem?,
        _ file: String,
        _ verb: String
    ) -> (String, String)? {
        guard let certificate = signer?.certificate, let address = signer?.address else { return nil }
        switch problem?.kind {
        case .chainNoAnchor:
            return (
                "compare the fingerprint with \(address), but not by mail, then",
                "smime recipient trust \(shell: address) --from \(file) --fingerprint \(certificate.fingerprint)"
            )
        case .chainDistrusted: return ("to see what you decided", "smime recipient show \(shell: address)")
        case .revocationUnknown: return ("to ask its authority", "smime \(verb) --online \(file)")
        default: return nil
        }
    }

    /// A signature that was valid at the time of signing can be judged as of then, but only the signer states that time.
    private static func expired(
        _ signer: VerificationReport.Signer?,
        _ problem: Problem?,
        _ file: String,
        _ verb: String
    ) -> (String, String)? {
        guard let certificate = signer?.certificate else { return nil }
        let claimed = signer?.signingTime.flatMap {
            $0 >= certificate.notBefore && $0 <= certificate.notAfter ? $0 : nil
        }
        if let claimed {
            return (
                "if it has been with you since the signer says to have signed it, judge it as of then",
                "smime \(verb) --time \(claimed.timestamp) \(file)"
            )
        }
        guard problem?.kind == .certificateExpired else { return nil }
        return (
            "if it was with you before the certificate ended, judge it as of its last day",
            "smime \(verb) --time \(certificate.notAfter.timestamp) \(file)"
        )
    }

    private static func notYetValid(
        _ signer: VerificationReport.Signer?,
        _ file: String,
        _ verb: String
    ) -> (String, String)? {
        signer?.certificate.map {
            (
                "check your clock; to judge it as of the certificate's first day",
                "smime \(verb) --time \($0.notBefore.timestamp) \(file)"
            )
        }
    }

    private static func mismatch(
        _ signer: VerificationReport.Signer?,
        _ problem: Problem?,
        _ file: String,
        _ verb: String
    ) -> (String, String)? {
        guard let signer, let address = signer.address else { return nil }
        switch problem?.kind {
        case .signerIsSender: return ("if Sender may send for From", "smime \(verb) --accept-sender \(file)")
        case .signerNotFrom:
            return (
                "if it is \(address)'s signature that you want",
                "smime verify --assert-signer \(shell: address) \(file)"
            )
        default: return nil
        }
    }

    private static func invalid(_ problem: Problem?) -> (String, String)? {
        guard problem?.kind == .signerCertificateMissing else { return nil }
        return ("import the signer's certificate first", "smime import CERTIFICATE-FILE")
    }
}
