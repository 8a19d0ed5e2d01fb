import PKIX
import SMIME

extension VerificationReport {
    /// What to do about a commit or tag of an untrusted signer; empty for other verdicts.
    ///
    /// git deletes the file of the signature when it ends, so the commands read the object again. The certificates in a signature are
    /// not signed, and an attacker can add others: the fingerprint alone decides which one is trusted.
    var gitHints: [String] {
        guard status == .untrusted, let signer = signers.first(where: { self.status(of: $0) == .untrusted }),
            signer.problems.contains(where: { $0.kind == .chainNoAnchor })
        else { return [] }
        let byAuthority = "if you know its authority: smime trust add FILE"
        guard let certificate = signer.certificate, let address = signer.address else { return [byAuthority] }
        let object = "git cat-file -p COMMIT | sed 's/^gpgsig//; s/^ //'"
        let add = "smime recipient add \(shell: address) -"
        let trust = "smime recipient trust \(shell: address) --fingerprint \(certificate.fingerprint)"
        return [
            byAuthority,
            "if not, compare the fingerprint with \(address), but not by mail, then: \(object) | \(add) && \(trust)",
        ]
    }
}
