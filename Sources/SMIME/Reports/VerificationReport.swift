import InternetMessage
public import PKIX

/// The verification of a message's signatures: five axes for each signer, and the verdict that follows from them.
public struct VerificationReport: Sendable {
    /// The verdict in one word, which never stands alone: problems and axes say why.
    ///
    /// Where several words would do it is the first of those that `Signer.status` asks for: integrity, revocation, chain,
    /// time, identity, coverage, strength.
    @nonexhaustive
    public enum Status: String, Sendable {
        /// The signature fits and its chain is trusted; but a certificate of it has expired at the time of judgement.
        case expired
        /// The signature does not fit the content or the signer's key, there is no certificate to check it with, or
        /// something about the message as a whole is an error.
        case invalid
        /// The message is not what it claims to be, so that no signature of it counts.
        case malformed
        /// All else is good, but the signer is not shown to be the sender: no address of the certificate is in From or
        /// Sender, or From names no definite address.
        case mismatch
        /// As `expired`, but the certificate is not valid yet.
        case notYetValid = "not-yet-valid"
        /// The signature is valid, but covers only a part of the message.
        case partial
        /// The signature fits, but the certificate, or an authority's above it, was revoked.
        case revoked
        /// There is no signature that the verdict could depend on.
        case unsigned
        /// The signature fits, but the certificate leads to no trust anchor, or may not sign mail; or nothing says whether it
        /// was revoked, which `RevocationPolicy.hard` demands, or it takes too long to find out (`revocation-unknown`).
        case untrusted
        /// Every axis that was looked at is good, for all signers that the verdict depends on, and what they signed is the
        /// whole message.
        case valid
        /// All else is good, but the signature uses SHA-1, or a key of the signer or an authority is under 2048 bits
        /// (RSA, DSA) or 224 bits (elliptic curves), which can be forged with enough computers.
        /// `VerdictExceptions.weakAlgorithms` accepts it.
        case weak
    }

    /// How much of the message a signature speaks for.
    @nonexhaustive
    public enum Coverage: String, Sendable {
        /// Nothing is signed.
        case none
        /// A part beside others is signed, or several are.
        case part
        /// All of it is signed, but for header fields that are not protected.
        case whole
    }

    /// How much of the message the signatures are over.
    public let coverage: Coverage
    /// Every layer that was seen, the outermost first.
    public let layers: [Layer]
    /// What concerns the message as a whole.
    public let problems: [Problem]
    /// The header fields inside the protection; nil if there are none, or they cannot be seen without a key.
    public let headers: HeaderReport?
    /// Whether the message is not even what it claims to be.
    public let isMalformed: Bool
    /// Whether something about the message as a whole is an error, so that no signature of it counts.
    let isFaulty: Bool
    /// The verdict, where a caller made the report; else it follows from everything else.
    private let stated: Status?

    /// An empty report: an unsigned message.
    public init() { self.init(ReportBuilder()) }

    /// A report with this verdict, for tests of a caller's decisions. Nothing can be learned from it.
    ///
    /// - Parameters:
    ///   - status: the verdict.
    ///   - problems: what concerns the message as a whole.
    public init(status: Status, problems: [Problem] = []) {
        var builder = ReportBuilder()
        builder.note(problems)
        self.init(builder, stated: status)
    }

    /// The report that `builder` has collected.
    ///
    /// - Parameter stated: a verdict in place of the one that follows from it.
    init(_ builder: ReportBuilder, stated: Status? = nil) {
        self.stated = stated
        coverage = builder.coverage
        layers = builder.layers
        problems = builder.problems
        headers = builder.headers
        isMalformed = builder.isMalformed
        isFaulty = builder.isFaulty
    }

    /// The signers that the verdict depends on, those of the outermost signature first.
    public var signers: [Signer] { layers.filter(\.isDecisive).flatMap(\.signers) }

    /// Whether the header fields inside the protection are to be shown: they are as they were signed, or encrypted.
    public var isHeaderKnown: Bool {
        headers.map { !$0.signed.isEmpty } == true || layers.contains { $0.kind.isEncryption }
    }

    /// The protection by all layers around the whole message together.
    ///
    /// RFC 9787 §3.1
    @nonexhaustive
    public enum Summary: String, Sendable {
        case confidential
        case confidentialAndVerified = "confidential-and-verified"
        case unprotected
        case verified
    }

    /// What protects the message as a whole. Encryption that was not opened counts; a signature counts if it is valid.
    public var summary: Summary {
        let isConfidential = layers.contains { $0.kind.isEncryption && !$0.isPart }
        switch (isConfidential, status == .valid) {
        case (true, true): return .confidentialAndVerified
        case (true, false): return .confidential
        case (false, true): return .verified
        case (false, false): return .unprotected
        }
    }

    /// The verdict, which follows from everything else. It is `valid` only if all axes of all signers are good.
    public var status: Status {
        if let stated { return stated }
        if isMalformed { return .malformed }
        return signers.map { status(of: $0) }.min { $0.gravity < $1.gravity } ?? .unsigned
    }

    /// Whether all errors are revocation statuses that are unknown for now; false if there is no error.
    package var failsForUnknownRevocationOnly: Bool {
        let failed = signers.filter(\.hasErrors)
        return !isFaulty && !failed.isEmpty && failed.allSatisfy(\.failsForUnknownRevocationOnly)
    }

    /// The verdict on one signature without the others. Problems of the message as a whole count for each.
    public func status(of signer: Signer) -> Status {
        if isMalformed { return .malformed }
        if isFaulty { return .invalid }
        let isGood = signer.status == .valid || signer.status == .weak
        return isGood && coverage != .whole ? .partial : signer.status
    }
}

extension VerificationReport.Status {
    /// Which of the verdicts on several signatures is the verdict on the message: the lowest.
    var gravity: Int {
        switch self {
        case .malformed: 0
        case .unsigned: 1
        case .invalid: 2
        case .revoked: 3
        case .untrusted: 4
        case .expired: 5
        case .notYetValid: 6
        case .mismatch: 7
        case .partial: 8
        case .weak: 9
        case .valid: 10
        }
    }
}
