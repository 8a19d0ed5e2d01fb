import InternetMessage
import PKIX
import SMIME

/// Chooses the sentence for a report.
struct VerdictWords {
    /// The verdict in one sentence without a full stop.
    let sentence: String
    /// The problem that the sentence states; nil if it states none.
    let problem: Problem?

    /// - Parameters:
    ///   - signer: the signer whose signature decides the verdict.
    ///   - context: what the store knows about the signer.
    init(_ report: VerificationReport, _ signer: VerificationReport.Signer?, context: SignerContext) {
        let problem = Self.cause(of: report, signer)
        self.problem = problem
        let claim = signer.map(\.claim) ?? "signed"
        let why = problem?.text ?? "see the details with --verbose"
        sentence =
            switch report.status {
            case .valid: "Valid: \(Self.authors(of: report) ?? claim)"
            case .weak: "NOT valid: \(claim), but with an algorithm or key that can be forged (\(why))"
            case .invalid: "NOT valid: \(Self.invalidity(problem, signer) ?? why)"
            case .malformed: "NOT valid: the message is not what it claims to be (\(why))"
            case .unsigned: Self.absence(of: report)
            case .revoked: "NOT valid: \(claim), \(Self.revocation(problem))"
            case .untrusted: Self.distrust(claim, problem, why: why, signer: signer, context: context)
            case .expired: "NOT valid: \(claim), \(Self.end(problem, signer))"
            case .notYetValid: "NOT valid: \(claim), \(Self.beginning(problem, signer))"
            case .mismatch: "NOT valid: \(claim), \(Self.mismatchText(problem)) (\(why))"
            case .partial:
                "NOT valid for the whole message: a part is \(claim)"
                    + (signer?.isOtherThanSender == true ? ", who is not the sender of the whole message" : "")
            }
    }

    /// The error that decides the verdict.
    private static func cause(of report: VerificationReport, _ signer: VerificationReport.Signer?) -> Problem? {
        guard report.status != .unsigned else { return report.undecrypted }
        let own =
            switch report.status {
            case .valid, .unsigned, .partial: [Problem]()
            case .malformed: report.problems
            case .invalid: report.problems + (signer?.integrity.problems ?? []) + report.layers.flatMap(\.problems)
            case .revoked: signer?.revocation.problems ?? []
            case .untrusted: (signer?.chain.problems ?? []) + (signer?.revocation.problems ?? [])
            case .expired, .notYetValid: signer?.time.problems ?? []
            case .mismatch: signer?.identity.problems ?? []
            case .weak: signer?.problems ?? []
            }
        return own.first { $0.level == .error }
    }

    /// The clause that names the signers of a valid message; nil if all of them signed in addition to the sender.
    private static func authors(of report: VerificationReport) -> String? {
        var (own, others): ([String], [String]) = ([], [])
        for signer in report.signers where report.status(of: signer) == .valid {
            if signer.cosigning != nil { others.append(signer.name) } else { own.append(signer.name) }
        }
        var seen: Set<String> = []
        let names = [own, others].map { $0.filter { seen.insert($0).inserted }.joined(separator: " and ") }
        guard let author = names.first, !author.isEmpty else { return nil }
        return "signed by \(author)" + (names[1].isEmpty ? "" : ", and also by \(names[1])")
    }

    private static func invalidity(_ problem: Problem?, _ signer: VerificationReport.Signer?) -> String? {
        switch problem?.kind {
        case .contentChanged: "the content was changed after signing"
        case .signatureInvalid: "the signature does not match the certificate that it names, which is \(named(signer))"
        case .signerCertificateMissing:
            "the signature cannot be checked, because the signer's certificate is not in the message and not known"
        default: nil
        }
    }

    private static func absence(of report: VerificationReport) -> String {
        if report.undecrypted != nil {
            let isWhole = report.layers.last { $0.kind.isEncryption }?.isPart == false
            return "Not checked: \(isWhole ? "the" : "a part of the") message is encrypted, and may be signed inside"
        }
        if report.hasOnlyCertificates { return "Not signed: the message contains only certificates" }
        return "Not signed: nothing shows who wrote it, or whether it was changed"
    }

    private static func revocation(_ problem: Problem?) -> String {
        problem?.kind == .chainRevoked
            ? "but the certificate of an authority above it was revoked" : "but the certificate was revoked"
    }

    private static func distrust(
        _ claim: String,
        _ problem: Problem?,
        why: String,
        signer: VerificationReport.Signer?,
        context: SignerContext
    ) -> String {
        let begin = "Not trusted: unchanged, \(claim)"
        switch problem?.kind {
        case .chainDistrusted: return "\(begin), which you distrusted"
        // The certificate is trusted, as the axes show.
        case .revocationUnknown:
            let authority = signer?.unknownRevocation.flatMap { $0 == signer?.certificate ? nil : $0 }
            let subject = authority.map { "the certificate of \($0.subject.shortName)" } ?? "it"
            return "NOT valid: \(claim), but nothing says whether \(subject) was revoked"
        case .chainNoAnchor:
            guard let certificate = signer?.certificate else { return "\(begin), but \(why)" }
            let issuer = (signer?.path.last ?? certificate).issuer.shortName
            // For a certificate that may be forged, the sentence does not begin with the name in that certificate.
            if let difference = context.difference {
                let reason = certificate.isSelfIssued ? "" : " you trust"
                let name = certificate.isSelfIssued ? "" : " (\(issuer))"
                return "Not trusted: \(difference), and no authority\(reason) issued the one that signed\(name)"
            }
            guard !certificate.isSelfIssued else { return "\(begin), which no authority issued" }
            let sender =
                switch (signer?.identity.ok, signer?.isOtherThanFrom) {
                case (false, true): ", and From names another sender"
                case (false, _): ", and it is not certain who the sender is"
                default: ""
                }
            return "\(begin), but no authority you trust issued it (\(issuer))\(sender)"
        default: return context.difference.map { "Not trusted: \($0) (\(why))" } ?? "\(begin), but \(why)"
        }
    }

    private static func mismatchText(_ problem: Problem?) -> String {
        switch problem?.kind {
        case .signerNotFrom: "but From names another sender"
        case .signerIsSender: "who is in Sender, but not in From"
        case .protectedFromMismatch: "but the From inside the signature names another sender"
        default: "but it is not certain who the sender is"
        }
    }

    private static func end(_ problem: Problem?, _ signer: VerificationReport.Signer?) -> String {
        guard problem?.kind == .certificateExpired, let end = signer?.certificate?.notAfter else {
            return "but the certificate of an authority above it has expired"
        }
        return "which expired on \(end.day)"
    }

    private static func beginning(_ problem: Problem?, _ signer: VerificationReport.Signer?) -> String {
        guard problem?.kind == .certificateNotYetValid, let begin = signer?.certificate?.notBefore else {
            return "but the certificate of an authority above it is not valid yet"
        }
        return "which is not valid before \(begin.day)"
    }

    private static func named(_ signer: VerificationReport.Signer?) -> String { "\(signer?.name ?? "unknown")'s" }
}

extension VerificationReport.Signer {
    /// The part of the sentence about the signer. It says `signed by …` only if the content is unchanged, and the certificate
    /// is trusted, in its validity period, and not revoked as far as is known.
    var claim: String {
        guard integrity.holds else { return "a signature that names \(name)" }
        let isProven = integrity.ok == true && chain.ok == true && revocation.ok != false && time.ok == true
        guard !isProven else { return "signed by \(name)" }
        return certificate == nil ? "signed with an unknown certificate" : "signed with \(name)'s certificate"
    }
}
