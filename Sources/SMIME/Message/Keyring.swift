public import CMSSyntax
import InternetMessage
import LibCrypto
public import PKIX

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A key provider with identities, certificates and trust in memory.
public struct Keyring: KeyProvider {
    /// The identities that decrypt messages.
    public var identities: [Identity]
    /// Certificates of signers, for messages that do not contain them.
    public var certificates: [Certificate] {
        didSet { places = CertificatePlaces(certificates) }
    }
    /// Where the certificates are in `certificates`.
    private var places: CertificatePlaces
    /// The errors to treat as warnings.
    public var accepted: VerdictExceptions = []
    /// The trusted certificates, and how strictly certificates are judged.
    public var trust: TrustStore

    /// - Parameters:
    ///   - identities: the identities that decrypt messages.
    ///   - anchors: the trusted root certificates.
    ///   - certificates: certificates of signers, for messages that do not contain them.
    ///   - systemAnchors: whether the root certificates of the system are trusted, too.
    public init(
        _ identities: [Identity],
        trusting anchors: [Certificate] = [],
        certificates: [Certificate] = [],
        systemAnchors: Bool = false
    ) {
        self.identities = identities
        self.certificates = certificates
        places = CertificatePlaces(certificates)
        trust = TrustStore(anchors: anchors, systemAnchors: systemAnchors ? SystemAnchors() : nil)
    }

    /// A keyring with `identities` that trusts the root certificates `anchors`.
    public init(_ identities: Identity..., trusting anchors: Certificate...) {
        self.init(identities, trusting: anchors)
    }

    /// The identity of the first recipient for whom there is one in the keyring; nil if there is none.
    public func identity(for recipients: [EntityIdentifier]) -> Identity? {
        for recipient in recipients {
            if let identity = identities.first(where: { recipient.matches($0.certificate) }) { return identity }
        }
        return nil
    }

    /// The `certificates` that `signers` name.
    public func certificates(for signers: [EntityIdentifier]) -> [Certificate] {
        places.matching(signers).map { certificates[$0] }
    }

    /// The value of `accepted`.
    public func exceptions() -> VerdictExceptions { accepted }

    /// The value of `trust`, whatever the certificates.
    public func trust(for certificates: [Certificate]) -> TrustStore { trust }
}

/// The problems that make a certificate unusable, independent of its chain.
enum CertificateFitness {
    /// The problems that prevent using the certificate; empty if there are none.
    static func problems(of certificate: Certificate, for purpose: Certificate.KeyPurpose, at time: Date) -> [Problem] {
        var problems: [Problem] = []
        switch purpose {
        case _ where !certificate.publicKeyAlgorithm.isOffered:
            let text = "this libcrypto does not support its key: \(certificate.publicKeyAlgorithm)"
            problems.append(Problem(.keyUsage, text))
        case .signing where !certificate.canSign:
            problems.append(Problem(.keyUsage, "the certificate does not permit signing mail"))
        case .encryption where certificate.isCertificateAuthority:
            problems.append(Problem(.endEntityIsCA, "the certificate is a CA certificate"))
        case .encryption where !certificate.canEncrypt:
            problems.append(Problem(.keyUsage, "the certificate does not permit encryption"))
        default: break
        }
        return problems + self.problems(of: certificate, at: time)
    }

    /// The problems that prevent every use of the certificate.
    private static func problems(of certificate: Certificate, at time: Date) -> [Problem] {
        var problems: [Problem] = []
        // A time that is not a number is in no period.
        if !certificate.hasBegun(at: time) {
            problems.append(Problem(.certificateNotYetValid, "the certificate is not valid yet"))
        }
        if certificate.hasEnded(at: time) {
            problems.append(Problem(.certificateExpired, "the certificate has expired"))
        }
        if certificate.publicKeyAlgorithm.isWeak {
            problems.append(Problem(.weakKey, "its key is too short: \(certificate.publicKeyAlgorithm)"))
        }
        return problems
    }

    /// Checks the signer of an object that is not mail. The extended key usage is not checked, because each verifier
    /// requires a usage of its own.
    ///
    /// - Throws: `MessageError.unusableSigner`
    static func checkSigner(_ certificate: Certificate, at time: Date) throws(MessageError) {
        let problem =
            certificate.allowsSigning
            ? problems(of: certificate, at: time).first
            : Problem(.keyUsage, "the certificate does not permit signatures")
        if let problem { throw .unusableSigner("\(certificate.subject): \(problem.text)") }
    }

    /// - Throws: `MessageError.unusableSigner`
    static func checkSigner(_ identity: Identity, of header: HeaderBlock, at time: Date) throws(MessageError) {
        let certificate = identity.certificate
        let author = AuthorReading(header)
        let reason: String? =
            if let problem = problems(of: certificate, for: .signing, at: time).first {
                problem.text
            } else if let problem = author.firstProblem {
                "\(problem), so no signature would be valid"
            } else if let address = author.soleAddress, !certificate.emailAddresses.contains(address) {
                "the certificate does not name \(address), the address in From"
            } else {
                nil
            }
        if let reason { throw .unusableSigner("\(certificate.subject): \(reason)") }
    }

    /// - Throws: `MessageError.unusableRecipient`
    static func checkRecipient(_ certificate: Certificate, at time: Date) throws(MessageError) {
        guard let problem = problems(of: certificate, for: .encryption, at: time).first else { return }
        throw .unusableRecipient("\(certificate.subject): \(problem.text)")
    }
}

/// An index of a list of certificates by the identifiers that CMS uses (RFC 5652 §5.3, §6.2.1).
struct CertificatePlaces: Sendable {
    private let places: [EntityIdentifier: [Int]]

    init(_ certificates: [Certificate]) {
        var places: [EntityIdentifier: [Int]] = [:]
        for (index, certificate) in certificates.enumerated() {
            places[EntityIdentifier(certificate), default: []].append(index)
            if let identifier = certificate.subjectKeyIdentifier {
                places[.subjectKeyIdentifier(identifier), default: []].append(index)
            }
        }
        self.places = places
    }

    /// The places of the certificates that `identifiers` name, in the order of the list, each once.
    func matching(_ identifiers: [EntityIdentifier]) -> [Int] {
        Set(identifiers.flatMap { places[$0] ?? [] }).sorted()
    }
}

extension Recipient {
    /// A recipient whose certificate is suitable for encryption.
    ///
    /// Whether the certificate is trusted or revoked is not checked: see `TrustStore.problems(of:for:with:at:)`.
    ///
    /// - Parameters:
    ///   - certificate: the certificate to encrypt to.
    ///   - capabilities: the algorithms that the recipient announced; nil uses those that the certificate announces.
    ///   - time: the time at which the certificate must be valid.
    /// - Throws: `.unusableRecipient` for a certificate that belongs to an authority, is not for encryption, is weak, has a
    ///   key that libcrypto does not support, or is not valid at `time`.
    public init(
        _ certificate: Certificate,
        capabilities: [SMIMECapability]? = nil,
        at time: Date = .now
    ) throws(SMIMEError) {
        do { try CertificateFitness.checkRecipient(certificate, at: time) } catch { throw SMIMEError(error) }
        let known = capabilities ?? certificate.capabilitiesEncoding.flatMap { try? SMIMECapability.list($0) }
        let party = CipherNegotiation.Party(name: "", certificate: certificate, capabilities: known)
        self.init(unchecked: certificate, rsaWrapping: CipherNegotiation.wrapping(party, .aes256GCM))
        self.capabilities = known
    }

    /// Everyone who knows `password` (RFC 5652 §6.2.4). Few mail programs can decrypt such a message.
    ///
    /// An attacker who has the message can try passwords without limit, so a short password will be found.
    ///
    /// - Throws: `.unusableRecipient` for an empty password, which everyone knows.
    public init(password: String) throws(SMIMEError) {
        guard !password.isEmpty else { throw SMIMEError(.unusableRecipient, "an empty password protects nothing") }
        self.init(SharedSecret(password: Passphrase(password.utf8)))
    }
}

extension [Recipient] {
    /// The cipher `cipher`, if it is not nil; otherwise the best cipher that all recipients announce, or AES-256-GCM.
    ///
    /// - Throws: `.noCommonCipher`, `.cipherBelowFloor`
    func commonCipher(demanded cipher: ContentCipher?) throws(SMIMEError) -> ContentCipher {
        // A password announces no capabilities, so the certificates alone determine the cipher.
        let parties = compactMap { recipient in
            recipient.certificate.map {
                CipherNegotiation.Party(name: "\($0.subject)", certificate: $0, capabilities: recipient.capabilities)
            }
        }
        return try SMIMEError.catching {
            try CipherNegotiation(for: parties, CipherNegotiation.Preferences(demanded: cipher)).cipher
        }
    }
}
