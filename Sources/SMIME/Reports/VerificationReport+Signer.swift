public import Foundation
import InternetMessage
public import PKIX

extension VerificationReport {
    /// One aspect of one signature.
    public struct Axis: Sendable, Equatable {
        /// False if and only if a problem is an error; nil if nobody looked.
        public let ok: Bool?
        /// What was found, errors and warnings.
        public let problems: [Problem]

        /// An axis that was looked at, with what was found.
        public init(_ problems: [Problem]) {
            ok = !problems.contains { $0.level == .error }
            self.problems = problems
        }

        private init() {
            ok = nil
            problems = []
        }

        /// Whether it was looked at and found good, or at most weak: SHA-1 or a short key.
        public var holds: Bool {
            ok != nil && problems.allSatisfy { $0.level == .warning || $0.kind.isWeakness }
        }

        /// An axis that nobody looked at.
        public static let notChecked = Axis()
    }

    /// One signer, judged.
    public struct Signer: Sendable {
        /// The certificate the signature was checked with; nil if there was none to be had.
        public let certificate: Certificate?
        /// When the signer claims to have signed; nil if it is not said.
        public let signingTime: Date?
        /// The digest's name, or its dotted OID.
        public let digest: String
        /// The signature algorithm's name or number.
        public let signature: String
        /// What the signer announces to read, best first.
        public let capabilities: [String]
        /// The bytes are those that were signed.
        public let integrity: Axis
        /// The certificate leads to a trust anchor, and may sign mail.
        public let chain: Axis
        /// An address of the certificate is From's, or Sender's.
        public internal(set) var identity: Axis
        /// Whether the certificate, or an authority's above it, was revoked, as far as anybody knows.
        ///
        /// Where nothing at hand tells, `RevocationPolicy` decides: under `.soft` `ok` is true, with the warning
        /// `revocation-unknown`; under `.hard` it is false, with that as an error; under `.off` nobody looked, and it is
        /// nil. That it takes too long to find out is an error under `.soft`, too. So `ok` says "known not to be revoked" only
        /// if there is no `revocation-unknown` among the problems.
        public let revocation: Axis
        /// Certificate and chain are valid at the time of judgement.
        public let time: Axis
        /// Where in the message the signature is, as IMAP counts parts (RFC 3501 §6.4.5); nil if it is about the whole of it.
        public internal(set) var section: String?
        /// What may be learned from the signature, if it turns out to be valid.
        let evidence: SignerEvidence?

        /// The address in From that the certificate names; nil if it names none of them.
        let author: EmailAddress?

        /// The address that the signer is called by: the one that From has, or else the first of the certificate.
        public var address: String? { author?.text ?? certificate?.addresses.first }

        /// Who signed, in a word: an address, or else the certificate's subject.
        public var name: String { address ?? certificate.map { "\($0.subject)" } ?? "unknown" }

        /// What was found on all axes; what decides the status comes first.
        public var problems: [Problem] { [integrity, revocation, chain, time, identity].flatMap(\.problems) }

        /// The verdict on this signature alone, whatever is wrong with the message.
        public var status: Status {
            if !integrity.holds { return .invalid }
            let errors = revocation.problems.filter { $0.level == .error }
            if errors.contains(where: { $0.kind != .revocationUnknown }) { return .revoked }
            if !chain.holds || revocation.ok == false { return .untrusted }
            if time.ok != true { return isNotYetValid ? .notYetValid : .expired }
            if identity.ok == false { return .mismatch }
            return integrity.ok == true && chain.ok == true ? .valid : .weak
        }
    }
}

extension VerificationReport.Signer {
    /// Makes a warning of it that the signer is not the sender, if that is all that is wrong.
    mutating func becomeCosigner() {
        let (others, errors) = (
            identity.problems.filter { $0.level == .warning }, identity.problems.filter { $0.level == .error }
        )
        guard !errors.isEmpty,
            errors.allSatisfy({ [.signerNotFrom, .signerIsSender, .protectedFromMismatch].contains($0.kind) }),
            [integrity, chain, time].allSatisfy({ $0.ok == true }), revocation.ok != false
        else { return }
        let text = "signed by \(name.escapedForDisplay) as well, who is not the sender"
        identity = VerificationReport.Axis(others + [Problem(.cosigner, text)])
    }

    /// Whether the verdict on it alone is less grave.
    func isBetter(than other: Self) -> Bool { status.gravity > other.status.gravity }

    /// Whether nothing is wrong with the time but that it is too early.
    fileprivate var isNotYetValid: Bool {
        let errors = time.problems.filter { $0.level == .error }
        return !errors.isEmpty
            && errors.allSatisfy { [.certificateNotYetValid, .chainNotYetValid].contains($0.kind) }
    }
}
