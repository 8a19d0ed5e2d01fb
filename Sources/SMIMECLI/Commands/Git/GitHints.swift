import PKIX
import SMIME

extension VerificationReport {
    /// What to do about the verdict on a commit or tag; nil if it is valid.
    ///
    /// git deletes the file of the signature when it ends, so the command reads the object again. The certificates in a signature are
    /// not signed, and an attacker can add others: the fingerprint alone decides which one is trusted.
    func gitHint(_ context: SignerContext) -> String? {
        guard status != .valid else { return nil }
        let problem = VerdictWords(self, decidingSigner, context: context).problem
        guard status == .untrusted, problem?.kind == .chainNoAnchor else {
            return VerdictStep(explaining: problem).text
        }
        guard let certificate = decidingSigner?.certificate, let address = decidingSigner?.address else {
            return "if you know its authority: smime trust add FILE"
        }
        let object = "git cat-file -p COMMIT | sed 's/^gpgsig//; s/^ //'"
        let add = "smime recipient add \(shell: address) -"
        let trust = "smime recipient trust \(shell: address) --fingerprint \(certificate.fingerprint)"
        return "compare the fingerprint with \(address), but not by mail, then: \(object) | \(add) && \(trust)"
    }
}
