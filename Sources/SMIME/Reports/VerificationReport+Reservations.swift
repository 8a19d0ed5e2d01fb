public import PKIX

extension VerificationReport {
    /// The warnings about the message and about `signer` that keep the signature from being passed on as plainly good: about
    /// identity, strength, coverage, or a signature outside the encryption.
    public func reservations(about signer: Signer) -> [Problem] {
        let layers = layers.filter { !$0.signers.isEmpty }
        return (problems + layers.flatMap(\.problems) + signer.problems).filter { $0.kind.reservation != nil }
    }

    /// Whether `signer` is plainly good: the verdict on the signature is valid, and nothing is left open about it.
    public func isPlainlyGood(_ signer: Signer) -> Bool {
        status(of: signer) == .valid && reservations(about: signer).isEmpty
    }

    /// The first signer whose signature covers the whole message and is good without reservations. Nil unless every signature
    /// that the verdict depends on is valid, and all but those of cosigners are good without reservations.
    public var plainSigner: Signer? {
        guard status == .valid, let signer = signers.first(where: isPlainlyGood) else { return nil }
        let isPlain = signers.allSatisfy { signer in
            reservations(about: signer).allSatisfy { $0 == signer.cosigning }
        }
        return isPlain ? signer : nil
    }
}
