public import PKIX

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

    /// The same for a short list.
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
