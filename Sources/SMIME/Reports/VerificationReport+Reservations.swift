public import PKIX

extension VerificationReport {
    /// The warnings about the message and about `signer` because of which a signature that is valid should not be presented
    /// as good without comment. They concern identity, strength, coverage, or a signature outside the encryption.
    public func reservations(about signer: Signer) -> [Problem] {
        let layers = layers.filter { !$0.signers.isEmpty }
        return (problems + layers.flatMap(\.problems) + signer.problems).filter { $0.kind.reservation != nil }
    }

    /// Whether the signature of `signer` is valid and there are no reservations about it.
    public func isPlainlyGood(_ signer: Signer) -> Bool {
        status(of: signer) == .valid && reservations(about: signer).isEmpty
    }

    /// The first signer whose signature covers the whole message and is good without reservations. Nil unless both conditions
    /// hold:
    /// - Every signature that determines the verdict is valid.
    /// - Apart from cosigners, every signature is good without reservations.
    public var plainSigner: Signer? {
        guard status == .valid, let signer = signers.first(where: isPlainlyGood) else { return nil }
        let isPlain = signers.allSatisfy { signer in
            reservations(about: signer).allSatisfy { $0 == signer.cosigning }
        }
        return isPlain ? signer : nil
    }
}
