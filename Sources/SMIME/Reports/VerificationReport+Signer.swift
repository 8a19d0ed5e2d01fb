import InternetMessage
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension VerificationReport {
    /// One aspect of one signature.
    public struct Axis: Sendable, Equatable {
        /// False if and only if a problem is an error; nil if the axis was not checked.
        public let ok: Bool?
        /// The errors and warnings of the axis.
        public let problems: [Problem]
        /// Whether it was looked at and found good, or at most weak: SHA-1 or a short key.
        public let holds: Bool
        /// Whether something weak was found, accepted or not.
        let isWeak: Bool

        /// An axis that was looked at, with what was found.
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

    /// One signer, judged.
    public struct Signer: Sendable {
        /// The certificate the signature was checked with; nil if none was found.
        public let certificate: Certificate?
        /// The signing time that the signer claims; nil without a claim.
        public let signingTime: Date?
        /// The digest's name, or its dotted OID.
        public let digest: String
        /// The signature algorithm's name or number.
        public let signature: String
        /// The algorithms that the signer can read, best first.
        public let capabilities: [String]
        /// The bytes are those that were signed.
        public let integrity: Axis
        /// The certificate leads to a trust anchor, and may sign mail.
        public let chain: Axis
        /// An address of the certificate is From's, or Sender's.
        public internal(set) var identity: Axis
        /// Whether the certificate, or an authority's above it, is known to be revoked.
        ///
        /// If the data at hand does not decide, `RevocationPolicy` does: under `.soft` `ok` is true, with the warning
        /// `revocation-unknown`; under `.hard` it is false, with that as an error; under `.off` it is nil, because
        /// nothing was checked. A check that takes too long is an error under `.soft`, too. So `ok` only means "known
        /// not to be revoked" if `revocation-unknown` is not among the problems.
        public let revocation: Axis
        /// Certificate and chain are valid at the time of judgement.
        public let time: Axis
        /// The part that is signed, as IMAP numbers parts (RFC 3501 §6.4.5); nil for the whole message.
        public internal(set) var section: String?
        /// What is known about revocation of the certificate and those above it; nil if it was not checked.
        let revocationStatus: ChainVerdict.Revocation.Status?
        /// Whether certificate and chain are valid at the time of judgement; nil if it was not checked.
        let validity: ChainVerdict.Validity?
        /// Whether the content is not what was signed.
        package let isContentChanged: Bool
        /// Whether the signer is not the one in From, which is an error.
        private(set) var isStranger: Bool
        /// In what ways the signer is not the one in From, errors or not.
        private(set) var strangeness: Set<SignerIdentity.Strangeness.Reason>
        /// Whether something else is wrong with the identity.
        let isIdentityUnclear: Bool
        /// The warning that the signer is a cosigner beside the sender; nil for other signers.
        private(set) var cosigning: Problem?
        /// The certificates of the chain, the signer's first, as far as they are at hand; trusted or not.
        package let path: [Certificate]
        /// What may be learned from the signature if it is valid.
        let evidence: SignerEvidence?

        /// The address in From that the certificate names; nil if it names none of them.
        let author: EmailAddress?

        /// The address shown for the signer: the one in From, or else the first of the certificate.
        public var address: String? { author?.text ?? certificate?.addresses.first }

        /// A name for the signer: an address, or else the certificate's subject.
        public var name: String { address ?? certificate.map { "\($0.subject)" } ?? "unknown" }

        /// The problems of all axes; those that decide the status come first.
        public var problems: [Problem] { [integrity, revocation, chain, time, identity].flatMap(\.problems) }

        /// Whether something weak was found, accepted or not.
        var isWeak: Bool { [integrity, revocation, chain, time, identity].contains(where: \.isWeak) }

        /// Whether an axis failed.
        var hasErrors: Bool { [integrity, revocation, chain, time, identity].contains { $0.ok == false } }

        /// Whether the only error is an unknown revocation status.
        package var failsForUnknownRevocationOnly: Bool {
            revocation.ok == false && revocationStatus != .revoked
                && [integrity, chain, time, identity].allSatisfy { $0.ok != false }
        }

        /// Whether the revocation status is unknown, but was not required.
        package var isRevocationUnknown: Bool { revocation.ok == true && revocationStatus == .unknown }

        /// The verdict on this signature alone, without the problems of the message.
        public var status: Status {
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
    /// Records that the signer is not the sender, unless that is recorded for the same reason.
    mutating func becomeStranger(_ found: SignerIdentity.Strangeness) {
        guard strangeness.insert(found.reason).inserted else { return }
        identity = VerificationReport.Axis(identity.problems + [found.problem])
        isStranger = isStranger || found.problem.level == .error
    }

    /// Turns the error that the signer is not the sender into a warning, if it is the only error.
    mutating func becomeCosigner() {
        guard isStranger, !isIdentityUnclear, [integrity, chain, time].allSatisfy({ $0.ok == true }),
            revocation.ok != false
        else { return }
        let problem = Problem(.cosigner, "signed by \(name.escapedForDisplay) as well, who is not the sender")
        identity = VerificationReport.Axis(identity.problems.filter { $0.level == .warning } + [problem])
        (isStranger, cosigning) = (false, problem)
    }

    /// Whether the verdict on it alone is less grave.
    func isBetter(than other: Self) -> Bool { status.gravity > other.status.gravity }
}
