public import CMS
public import MIME

/// Who is to have signed a message: somebody with an address, or whoever has one certificate.
public enum AssertedSigner: Hashable, Sendable {
    case address(EmailAddress)
    case fingerprint(Fingerprint)

    /// Reads an address or a fingerprint; nil if it is neither.
    public init?(_ text: String) {
        if let fingerprint = Fingerprint(text) {
            self = .fingerprint(fingerprint)
        } else if let address = try? EmailAddress(text) {
            self = .address(address)
        } else {
            return nil
        }
    }

    /// Whether `certificate` is the one, or names the address.
    func matches(_ certificate: Certificate) -> Bool {
        switch self {
        case .address(let address): certificate.addresses.contains { (try? EmailAddress($0)) == address }
        case .fingerprint(let fingerprint): certificate.fingerprint == fingerprint
        }
    }
}

extension VerificationReport {
    /// Whether the verdict is valid, and one of the signatures over the whole message is by `asserted`.
    ///
    /// It holds for no verdict but `valid`: not for a part of a message, nor beside another signature that fails.
    public func isSigned(by asserted: AssertedSigner) -> Bool {
        status == .valid && coverage == .whole
            && signers.contains { signer in
                signer.isGood && signer.certificate.map(asserted.matches) == true
            }
    }
}

extension VerificationReport.Signer {
    /// Whether no axis failed, and those that carry the verdict were looked at.
    var isGood: Bool {
        [integrity, chain, time].allSatisfy { $0.ok == true } && [identity, revocation].allSatisfy { $0.ok != false }
    }
}
