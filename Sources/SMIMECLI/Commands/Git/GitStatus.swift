import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME

/// Status lines for git, in gpgsm's form: `[GNUPG:] GOODSIG …`.
///
/// git finds GOODSIG and SIG_CREATED only after a line end, so another line precedes each of these two. Names are escaped and
/// cannot begin a line.
///
/// GnuPG: doc/DETAILS
enum GitStatus {
    /// The status lines for a new signature.
    static func created(by certificate: Certificate, _ digest: DigestAlgorithm, at time: Date) -> [String] {
        let words = [
            "D", algorithm(of: certificate), hash(digest.rawValue), "00", compact(time), certificate.shortFingerprint,
        ]
        return ["BEGIN_SIGNING H\(hash(digest.rawValue))", "SIG_CREATED \(words.joined(separator: " "))"]
    }

    /// The lines for the verdict in `report`, which always have exactly one trust level: git ends with an error if it is asked
    /// for the level (`%GT`) and there is none.
    ///
    /// git rejects a commit with lines for two signatures. If there are several signers, the lines are those of one signer
    /// whose signature decides the verdict, so that GOODSIG with TRUST_FULLY is only written if all signatures are valid. Of
    /// these signers, one who is among `people`, the committers and taggers, is preferred.
    static func verified(_ report: VerificationReport, _ people: [GitObject.Person] = []) -> [String] {
        let deciding = report.signers.filter { report.status(of: $0) == report.status }
        let certified = deciding.filter { $0.certificate != nil }
        let named = certified.first { signer in
            signer.certificate.map { certificate in people.contains { $0.isNamed(in: certificate) } } == true
        }
        guard let signer = named ?? certified.first ?? deciding.first ?? report.signers.first else {
            return ["NEWSIG", "TRUST_UNDEFINED 0 shell", "NODATA 4"]
        }
        return ["NEWSIG"] + lines(for: signer, report.status)
    }

    /// The lines if the signature could not be judged.
    static let failed = ["NEWSIG", "TRUST_UNDEFINED 0 shell", "FAILURE verify 1"]

    /// A trust level precedes the line of a bad signature, because git before 2.26 shows the last of the two lines.
    private static func lines(for signer: VerificationReport.Signer, _ status: VerificationReport.Status) -> [String] {
        guard let certificate = signer.certificate else {
            let hash = hash(signer.digest)
            let time = signer.signingTime.map(compact) ?? "0"
            return ["TRUST_UNDEFINED 0 shell", "ERRSIG 0000000000000000 0 \(hash) 00 \(time) 9"]
        }
        let name = "\(certificate.shortFingerprint) \(certificate.subject.gnuPGDescription.asDisplayedLine)"
        switch status {
        case .valid: return ["GOODSIG \(name)", valid(signer, certificate), "TRUST_FULLY 0 shell"]
        // An attacker may have created a weak signature. If a name in a certificate is malformed, it may not be the signer's.
        case .invalid, .malformed, .mismatch, .partial, .unsigned, .weak:
            return ["TRUST_NEVER 0 shell", "BADSIG \(name)"]
        case .untrusted: return ["GOODSIG \(name)", valid(signer, certificate), "TRUST_UNDEFINED 0 shell"]
        case .notYetValid: return ["GOODSIG \(name)", valid(signer, certificate), "TRUST_NEVER 0 shell"]
        // gpgsm, too, trusts an expired certificate whose chain is good; git accepts no signature with EXPKEYSIG.
        case .expired:
            let trust = signer.identity.ok == false ? "TRUST_NEVER" : "TRUST_FULLY"
            return ["\(trust) 0 shell", "EXPKEYSIG \(name)", valid(signer, certificate)]
        case .revoked: return ["TRUST_NEVER 0 shell", "REVKEYSIG \(name)", valid(signer, certificate)]
        }
    }

    private static func valid(_ signer: VerificationReport.Signer, _ certificate: Certificate) -> String {
        let words = [
            "VALIDSIG", certificate.shortFingerprint, signer.signingTime?.day ?? "0",
            signer.signingTime.map(compact) ?? "0",
            compact(certificate.notAfter), "0", "0", algorithm(of: certificate), hash(signer.digest), "00",
        ]
        return words.joined(separator: " ")
    }

    /// `time` in the form `20260131T120000`.
    private static func compact(_ time: Date) -> String {
        time.timestamp.filter { $0 != "-" && $0 != ":" && $0 != "Z" }
    }

    /// GnuPG's number of the key's algorithm; 0 if GnuPG has no number for it.
    private static func algorithm(of certificate: Certificate) -> String {
        switch certificate.publicKeyAlgorithm {
        case .rsa, .rsaPSS: "1"
        case .dsa: "17"
        case .ellipticCurve: "19"
        case .ed25519: "22"
        case .postQuantum, .other, .x25519: "0"
        }
    }

    /// GnuPG's number of the digest; 0 if GnuPG has no number for it.
    private static func hash(_ name: String) -> String {
        ["md5": "1", "sha1": "2", "sha256": "8", "sha384": "9", "sha512": "10", "sha224": "11"][name] ?? "0"
    }

    /// Writes the lines to the descriptor; does nothing if `descriptor` is nil.
    static func write(_ lines: [String], to descriptor: Int32?) throws {
        guard let descriptor else { return }
        let sink = DescriptorSink(descriptor)
        for line in lines { try sink.write("[GNUPG:] \(line)\n") }
        try sink.flush()
    }
}

extension VerificationReport {
    /// What to do about the verdict on a commit or tag; nil if the verdict is valid.
    ///
    /// git deletes the signature's file when it ends, so the suggested commands read the object from git again. The
    /// certificates in a signature and the text around the signature are not signed, so an attacker can add other
    /// certificates. Therefore both commands select the certificate by its fingerprint.
    func gitHint(_ context: SignerContext) -> String? {
        guard status != .valid else { return nil }
        let problem = VerdictWords(self, decidingSigner, context: context).problem
        guard status == .untrusted, problem?.kind == .chainNoAnchor else {
            return VerdictStep(explaining: problem).text
        }
        // Do not suggest comparing one's own certificate with itself, or pinning a certificate that may be forged.
        guard !context.isOwn, context.difference == nil else {
            let step = VerdictStep(
                self,
                decidingSigner,
                about: problem,
                context: context,
                file: nil,
                verb: SMIMECommand.Git.name
            )
            return step.text
        }
        guard let certificate = decidingSigner?.certificate, let address = decidingSigner?.address else {
            return "if you know its authority: smime trust add FILE"
        }
        let object = "git cat-file -p COMMIT | sed 's/^gpgsig//; s/^ //'"
        let selected = "--fingerprint \(certificate.fingerprint)"
        let add = "smime recipient add \(shell: address) - \(selected)"
        let trust = "smime recipient trust \(shell: address) \(selected)"
        return "compare the fingerprint with \(address), but not by mail, then: \(object) | \(add) && \(trust)"
    }
}
