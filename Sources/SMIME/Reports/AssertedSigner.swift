package import InternetMessage
package import PKIX

/// The required signer of a message: an address or a certificate.
package enum AssertedSigner: Hashable, Sendable {
    case address(EmailAddress)
    case fingerprint(Fingerprint)

    /// Reads an address or a fingerprint; nil if it is neither.
    package init?(_ text: String) {
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
        case .address(let address): certificate.mailAddresses.contains(address)
        case .fingerprint(let fingerprint): certificate.fingerprint == fingerprint
        }
    }
}

extension VerificationReport {
    /// Whether a valid and trusted signature over the whole message is by `asserted`.
    ///
    /// Faults in other signatures do not matter, because an attacker can add one. False if only a part is signed, if
    /// the message has another error, or if `asserted` is not the sender and the sender's own signature fails.
    package func isSigned(by asserted: AssertedSigner) -> Bool {
        guard !isMalformed, coverage == .whole, !isFaulty else { return false }
        return signers.contains { $0.isGood && $0.certificate.map(asserted.matches) == true }
    }
}

extension VerificationReport.Signer {
    /// Whether no axis failed, and those that carry the verdict were looked at.
    var isGood: Bool {
        [integrity, chain, time].allSatisfy { $0.ok == true } && [identity, revocation].allSatisfy { $0.ok != false }
    }
}
