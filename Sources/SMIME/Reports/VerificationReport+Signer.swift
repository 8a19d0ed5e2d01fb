package import InternetMessage
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension VerificationReport {
    /// One aspect of one signature.
    public struct Axis: Sendable, Equatable {
        /// False if and only if a problem of the axis is an error; nil if the axis was not checked.
        public let ok: Bool?
        /// The errors and warnings of the axis.
        public let problems: [Problem]
        /// Whether the axis was checked and has no error except weakness: SHA-1 or a weak key.
        public let holds: Bool
        /// Whether a weakness was found, even an accepted one.
        let isWeak: Bool

        /// An axis that was checked, with the problems found.
        public init(_ problems: [Problem]) {
            ok = !problems.contains { $0.level == .error }
            holds = problems.allSatisfy { $0.level == .warning || $0.kind.isWeakness }
            isWeak = problems.contains { $0.kind.isWeakness }
            self.problems = problems
        }

        private init() {
            ok = nil
            (holds, isWeak) = (false, false)
            problems = []
        }

        /// An axis that was not checked.
        public static let notChecked = Axis()
    }

    /// One signer and the verdict on its signature.
    public struct Signer: Sendable {
        /// The signer's certificate: the one that verified the signature, or, if the signature could not be verified, the first
        /// one that the SignerInfo names. Nil if none was found.
        public let certificate: Certificate?
        /// The signing time that the signer claims; nil if there is none, or none that can be read.
        public let signingTime: Date?
        /// The name of the digest, or its dotted OID.
        public let digest: String
        /// The name of the signature algorithm, or its dotted OID.
        public let signature: String
        /// The algorithms that the signer announces to support, best first.
        public let capabilities: [String]
        /// Whether the content is what was signed.
        public let integrity: Axis
        /// Whether the certificate is pinned or its chain ends at a trust anchor, and the certificate may sign mail.
        public let chain: Axis
        /// Whether the certificate names the address in From. With `VerdictExceptions.sender`, the address in Sender is
        /// enough.
        public internal(set) var identity: Axis
        /// Whether the certificate, or a certificate authority above it, is known to be revoked.
        ///
        /// If the available data does not decide, `RevocationPolicy` does:
        /// - `.soft`: `ok` is true, with the warning `revocation-unknown`.
        /// - `.hard`: `ok` is false, with the error `revocation-unknown`.
        /// - `.off`: `ok` is nil, because nothing was checked.
        ///
        /// A check that takes too long is an error under `.soft`, too. So `ok` means "known not to be revoked" only if
        /// `revocation-unknown` is not among the problems.
        public let revocation: Axis
        /// Whether the certificates of the chain are valid at the validation time.
        public let time: Axis
        /// The section number of the signed part, as in IMAP (RFC 3501 §6.4.5); nil for the whole message.
        public internal(set) var section: String?
        /// The known revocation status of the certificate and those above it; nil if it was not checked.
        let revocationStatus: ChainVerdict.Revocation.Status?
        /// The certificate of the chain whose revocation status is unknown, the lowest if there are several; nil if there is
        /// none.
        package let unknownRevocation: Certificate?
        /// Whether the certificates of the chain are valid at the validation time; nil if this was not checked.
        let validity: ChainVerdict.Validity?
        /// Whether the content differs from what was signed.
        package let isContentChanged: Bool
        /// Whether the signer is not the person in From, and this is an error.
        private(set) var isMismatched: Bool
        /// The reasons why the signer is not the person in From, whether they are errors or warnings.
        private(set) var mismatches: Set<SignerIdentity.Mismatch.Reason>
        /// Whether From names another person than the certificate.
        package var isOtherThanFrom: Bool { !mismatches.isEmpty }
        /// Whether the signer signed an attached message, and is not certainly the sender of the whole message.
        package fileprivate(set) var isOtherThanSender = false
        /// Whether there is another error about the identity.
        let isIdentityUnclear: Bool
        /// The warning that the signer signed in addition to the sender; nil for other signers.
        package private(set) var cosigning: Problem?
        /// The available certificates of the chain, the signer's first, whether trusted or not.
        package let path: [Certificate]
        /// The data to learn from the signature if it is valid; nil if there is none.
        let evidence: SignerEvidence?

        /// The address in From that the certificate names; nil if it names none of them.
        let author: EmailAddress?

        /// The address to show for the signer: the address in From, or otherwise the first well-formed address in the
        /// certificate; nil if there is none.
        public var address: String? { author?.text ?? certificate?.firstAddress?.text }

        /// A name for the signer: an address, or otherwise the certificate's subject.
        public var name: String { address ?? certificate.map { "\($0.subject)" } ?? "unknown" }

        /// The problems of all axes, in the order in which the axes determine the status.
        public var problems: [Problem] { [integrity, revocation, chain, time, identity].flatMap(\.problems) }

        /// Whether a weakness was found, even an accepted one.
        var isWeak: Bool { [integrity, revocation, chain, time, identity].contains(where: \.isWeak) }

        /// Whether an axis failed.
        var hasErrors: Bool { [integrity, revocation, chain, time, identity].contains { $0.ok == false } }

        /// Whether the only error is an unknown revocation status.
        package var failsForUnknownRevocationOnly: Bool {
            revocation.ok == false && revocationStatus != .revoked
                && [integrity, chain, time, identity].allSatisfy { $0.ok != false }
        }

        /// Whether revocation was checked, but the status is unknown. `revocation.ok` is false if a known status was required.
        package var isRevocationUnknown: Bool { revocationStatus == .unknown }

        /// The verdict on this signature alone, without the problems and the coverage of the message, which
        /// `VerificationReport.status(of:)` includes.
        package var status: Status {
            if !integrity.holds { return .invalid }
            if revocationStatus == .revoked { return .revoked }
            if !chain.holds || revocation.ok == false { return .untrusted }
            if time.ok != true { return validity == .notYet ? .notYetValid : .expired }
            if identity.ok == false { return .mismatch }
            return integrity.ok == true && chain.ok == true ? .valid : .weak
        }
    }
}

extension VerificationReport.Signer {
    /// Records that the signer is not the person in From, unless this was already recorded for the same reason.
    mutating func recordMismatch(_ found: SignerIdentity.Mismatch) {
        guard mismatches.insert(found.reason).inserted else { return }
        identity = VerificationReport.Axis(identity.problems + [found.problem])
        isMismatched = isMismatched || found.problem.level == .error
    }

    /// Records whether the signer, who signed an attached message, is another person than `sender`, the sender of the whole
    /// message, or whether that sender is unclear.
    mutating func compare(withSender sender: SignerIdentity) {
        guard let finding = certificate.map(sender.judge) else { return }
        isOtherThanSender = finding.mismatch != nil || finding.isUnclear
    }

    /// Turns the error that the signer is not the sender into a warning, if it is the signer's only error.
    mutating func acceptAsCosigner() {
        guard isMismatched, !isIdentityUnclear, [integrity, chain, time].allSatisfy({ $0.ok == true }),
            revocation.ok != false
        else { return }
        let problem = Problem(.cosigner, "signed by \(name.escapedForDisplay) as well, who is not the sender")
        identity = VerificationReport.Axis(identity.problems.filter { $0.level == .warning } + [problem])
        (isMismatched, cosigning) = (false, problem)
    }

    /// Whether the verdict on this signature is better than the verdict on `other`.
    func isBetter(than other: Self) -> Bool { status.gravity > other.status.gravity }
}

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

    /// Whether `author`, the address in From that the certificate names, is the required address. If a certificate is
    /// required, any author is enough.
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
