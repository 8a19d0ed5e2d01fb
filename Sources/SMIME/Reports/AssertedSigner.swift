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

    /// Whether `author`, the address in From that the certificate names, is the required one.
    fileprivate func names(_ author: EmailAddress?) -> Bool {
        switch self {
        case .address(let address): author == address
        case .fingerprint: author != nil
        }
    }
}

extension VerificationReport {
    /// Whether a valid and trusted signature of the required signer covers the whole message.
    ///
    /// Problems of other signatures are ignored, because an attacker can add a signature. The result is false if only a part
    /// is signed, if the message has another error, or if the required signer is not the sender and the sender's own
    /// signature is invalid. A display name that shows another address does not matter: the caller knows the address in From.
    package func isSigned(by asserted: AssertedSigner) -> Bool {
        guard !isMalformed, coverage == .whole, !isFaulty else { return false }
        return signers.contains { signer in
            guard signer.certificate.map(asserted.matches) == true else { return false }
            return signer.isGood || signer.isGoodExceptDisplayName && asserted.names(signer.author)
        }
    }
}

extension VerificationReport.Signer {
    /// Whether no axis failed, and all axes that the verdict requires were checked.
    var isGood: Bool {
        [integrity, chain, time].allSatisfy { $0.ok == true } && [identity, revocation].allSatisfy { $0.ok != false }
    }

    /// Whether the only error is that a display name in From shows another address.
    package var isGoodExceptDisplayName: Bool {
        let errors = identity.problems.filter { $0.level == .error }
        return [integrity, chain, time].allSatisfy { $0.ok == true } && revocation.ok != false && !errors.isEmpty
            && errors.allSatisfy { $0.kind == .fromDisplayName }
    }
}
