import InternetMessage
public import PKIX

/// The verification of a message's signatures: five axes for each signer, and the resulting verdict.
public struct VerificationReport: Sendable {
    /// The verdict in one word. Show it together with the problems and axes, which give the reasons.
    ///
    /// If several verdicts apply, the first one is used, in the order of the checks: integrity, revocation, chain, time,
    /// identity, coverage, strength.
    @nonexhaustive
    public enum Status: String, Sendable {
        /// The signature matches and its chain is trusted, but a certificate of the chain had expired at the validation
        /// time.
        case expired
        /// The signature does not match the content or the signer's key, there is no certificate to check it with, it has
        /// another error, such as MD5 as its digest, or the message as a whole has an error.
        case invalid
        /// The message or a CMS object in it is malformed, is not supported, or exceeds a limit, so no signature is
        /// accepted.
        case malformed
        /// Everything else is good, but the signer is not shown to be the sender, because one of these holds:
        /// - The certificate does not name the address in From. With `VerdictExceptions.sender`, the address in Sender is
        ///   enough.
        /// - From is not exactly one mailbox that all programs interpret alike.
        /// - The From inside the signature differs from the outer one, or does not name the signer.
        /// - A name in the certificate is malformed.
        case mismatch
        /// As `expired`, but a certificate of the chain is not valid yet.
        case notYetValid = "not-yet-valid"
        /// The signature is valid or weak, but covers only a part of the message.
        case partial
        /// The signature matches, but the certificate or a certificate authority above it was revoked.
        case revoked
        /// There is no signature that could determine the verdict.
        case unsigned
        /// The signature matches, but one of these holds:
        /// - The chain does not end at a trust anchor.
        /// - The certificate does not permit signing mail.
        /// - The revocation status is unknown, although `RevocationPolicy.hard` requires it, or the check takes too long
        ///   (`revocation-unknown`).
        case untrusted
        /// Every axis that was checked is good for all signers who determine the verdict, and the signatures cover the whole
        /// message.
        case valid
        /// Everything else is good, but the signature or a certificate of the chain uses SHA-1, or the key of the signer or
        /// of an authority is too weak: less than 2048 bits (RSA, DSA) or 224 bits (elliptic curves), or a curve of unknown
        /// size. An attacker with enough computers can forge such a signature. `VerdictExceptions.weakAlgorithms` accepts it,
        /// unless a single computer can break the key.
        case weak
    }

    /// How much of the message the signatures cover.
    @nonexhaustive
    public enum Coverage: String, Sendable {
        /// Nothing is signed.
        case none
        /// One part, or several parts, of a multipart are signed.
        case part
        /// The whole message is signed, except header fields that are not protected.
        case whole
    }

    /// How much of the message the signatures cover.
    public let coverage: Coverage
    /// Every layer that was found, the outermost first.
    public let layers: [Layer]
    /// The problems of the message as a whole, without those of the signers.
    public let problems: [Problem]
    /// The header fields inside the protection; nil if there are none, or they cannot be read without a key.
    public let headers: HeaderReport?
    /// Whether the message or a CMS object in it cannot be read as S/MIME; see `Status.malformed`.
    public let isMalformed: Bool
    /// The warning about encryption that was not decrypted, so that it is unknown what is signed inside; nil if there is none.
    package let undecrypted: Problem?
    /// Whether the message has no content, but contains certificates (RFC 8551 §3.8).
    package let hasOnlyCertificates: Bool
    /// Whether the message as a whole has an error, so that no signature is accepted.
    let isFaulty: Bool
    /// The verdict that a caller set; nil if the verdict results from the problems.
    private let stated: Status?

    /// An empty report: an unsigned message.
    public init() { self.init(ReportBuilder()) }

    /// A report with the verdict `status`, for tests of a caller's decisions. Nothing can be learned from it.
    ///
    /// - Parameters:
    ///   - status: the verdict.
    ///   - problems: the problems of the message as a whole.
    public init(status: Status, problems: [Problem] = []) {
        var builder = ReportBuilder()
        builder.note(problems)
        self.init(builder, stated: status)
    }

    /// The report that `builder` has collected.
    ///
    /// - Parameter stated: a verdict to use instead of the one that results from the problems.
    init(_ builder: ReportBuilder, stated: Status? = nil) {
        self.stated = stated
        coverage = builder.coverage
        layers = builder.layers
        problems = builder.problems
        headers = builder.headers
        isMalformed = builder.isMalformed
        isFaulty = builder.isFaulty
        undecrypted = builder.undecrypted
        hasOnlyCertificates = builder.hasOnlyCertificates
    }

    /// The signers who determine the verdict, those of the outermost signature first.
    public var signers: [Signer] { layers.filter(\.isDecisive).flatMap(\.signers) }

    /// The problems of the message as a whole, and then those of the signers who determine the verdict. For a message that
    /// is not valid, these are the reasons; a message that is unsigned, or signed in part, may have none.
    public var allProblems: [Problem] { problems + signers.flatMap(\.problems) }

    /// Whether to show the header fields inside the protection: they are unchanged since they were signed, or they are
    /// encrypted.
    public var isHeaderKnown: Bool {
        headers.map { !$0.signed.isEmpty } == true || layers.contains { $0.kind.isEncryption }
    }

    /// The protection by all layers around the whole message.
    ///
    /// RFC 9787 §3.1
    @nonexhaustive
    public enum Summary: String, Sendable {
        case confidential
        case confidentialAndVerified = "confidential-and-verified"
        case unprotected
        case verified
    }

    /// The protection of the message as a whole. It is confidential even if the encryption was not decrypted. It is
    /// verified only if its status is `valid`, and a signature is inside the encryption, if there is encryption.
    public var summary: Summary {
        let isConfidential = layers.contains { $0.kind.isEncryption && !$0.isPart }
        let isVerified = status == .valid && !isOnlySignedOutside
        switch (isConfidential, isVerified) {
        case (true, true): return .confidentialAndVerified
        case (true, false): return .confidential
        case (false, true): return .verified
        case (false, false): return .unprotected
        }
    }

    /// Whether only the encrypted object is signed: the signer need not know the content (RFC 9787).
    private var isOnlySignedOutside: Bool {
        guard let encryption = layers.lastIndex(where: { $0.kind.isEncryption && !$0.isPart }) else { return false }
        return layers[encryption...].allSatisfy(\.signers.isEmpty)
    }

    /// The verdict on the message: the worst verdict on one of `signers`.
    public var status: Status {
        if let stated { return stated }
        if isMalformed { return .malformed }
        return signers.map { status(of: $0) }.min { $0.gravity < $1.gravity } ?? .unsigned
    }

    /// Whether all errors are unknown revocation statuses, which may become known later; false if there is no error.
    package var failsForUnknownRevocationOnly: Bool {
        let failed = signers.filter(\.hasErrors)
        return !isFaulty && !failed.isEmpty && failed.allSatisfy(\.failsForUnknownRevocationOnly)
    }

    /// The verdict on one signature, independent of the other signatures. Problems of the message as a whole affect
    /// every signature.
    public func status(of signer: Signer) -> Status {
        if isMalformed { return .malformed }
        if isFaulty { return .invalid }
        let isGood = signer.status == .valid || signer.status == .weak
        return isGood && coverage != .whole ? .partial : signer.status
    }
}

extension VerificationReport.Status {
    /// The severity of the verdict. If there are several signatures, the verdict with the lowest number is the verdict on the
    /// message.
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

extension VerificationReport {
    /// Whether this verdict on a message is worse than `other`: by its status, or by reservations that only this one has.
    package func isWorse(than other: VerificationReport) -> Bool {
        guard status == other.status else { return status.gravity < other.status.gravity }
        return plainSigner == nil && other.plainSigner != nil
    }

    /// The warnings about the message and about `signer` because of which a signature that is valid should not be presented
    /// as good without comment. They concern identity, strength, coverage, the purpose of what is signed, or a
    /// signature outside the encryption.
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

extension VerificationReport {
    /// One layer of protection.
    public struct Layer: Sendable {
        /// The kind of a layer.
        @nonexhaustive
        public enum Kind: String, Sendable {
            case authenticatedEncrypted = "authenticated-encrypted"
            case compressed
            case encrypted
            case signed

            /// Whether the layer is encrypted.
            public var isEncryption: Bool { self == .encrypted || self == .authenticatedEncrypted }
        }

        /// The kind of the layer.
        public let kind: Kind
        /// The cipher or signature algorithm.
        public let algorithm: String
        /// The problems of the layer itself, without the problems of its signers.
        public let problems: [Problem]
        /// The signers of a signed layer.
        public internal(set) var signers: [Signer] = []
        /// Whether the layer's signers determine the verdict.
        ///
        /// If signatures are directly nested, the outermost signature determines the verdict, because its signer saw the
        /// content. The signer of ciphertext need not know the plaintext, so a signature inside the encryption determines the
        /// verdict, too.
        public internal(set) var isDecisive = false
        /// Whether the layer is inside an encrypted layer.
        public internal(set) var isInsideEncryption = false
        /// Whether the layer covers only one part of the message, next to other parts.
        public internal(set) var isPart = false
    }
}
