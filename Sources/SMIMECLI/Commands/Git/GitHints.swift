import PKIX
import SMIME

extension VerificationReport {
    /// What to do about the verdict on a commit or tag; nil if the verdict is valid.
    ///
    /// git deletes the signature's file when it ends, so the suggested commands read the object from git again. Neither the
    /// certificates in a signature nor the text around it are signed, and an attacker can add others, so both commands select
    /// the certificate by its fingerprint alone.
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
