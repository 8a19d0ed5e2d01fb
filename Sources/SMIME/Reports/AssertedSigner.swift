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

    /// Whether `certificate` is the required certificate, or names the required address.
    func matches(_ certificate: Certificate) -> Bool {
        switch self {
        case .address(let address): certificate.mailAddresses.contains(address)
        case .fingerprint(let fingerprint): certificate.fingerprint == fingerprint
        }
    }
}

extension VerificationReport {
    /// Whether a valid and trusted signature of the required signer covers the whole message.
    ///
    /// Problems of other signatures are ignored, because an attacker can add a signature. The result is false if only a part
    /// is signed, if the message has another error, or if the required signer is not the sender and the sender's own
    /// signature is invalid.
    package func isSigned(by asserted: AssertedSigner) -> Bool {
        guard !isMalformed, coverage == .whole, !isFaulty else { return false }
        return signers.contains { $0.isGood && $0.certificate.map(asserted.matches) == true }
    }
}

extension VerificationReport.Signer {
    /// Whether no axis failed, and all axes that the verdict requires were checked.
    var isGood: Bool {
        [integrity, chain, time].allSatisfy { $0.ok == true } && [identity, revocation].allSatisfy { $0.ok != false }
    }
}
