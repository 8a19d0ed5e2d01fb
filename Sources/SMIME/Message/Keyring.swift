public import PKIX

/// Identities, certificates and trust in memory.
public struct Keyring: KeyProvider {
    /// The identities that open messages.
    public var identities: [Identity]
    /// Certificates of signers that may not be in their messages.
    public var certificates: [Certificate]
    /// The errors that count as warnings.
    public var accepted: VerdictExceptions = []
    /// The trusted certificates, and how strictly certificates are judged.
    public var trust: TrustStore

    /// - Parameters:
    ///   - identities: the identities that open messages.
    ///   - anchors: the roots that end a chain.
    ///   - certificates: certificates of signers that may not be in their messages.
    ///   - systemAnchors: whether the roots that the system trusts end a chain, too.
    public init(
        _ identities: [Identity],
        trusting anchors: [Certificate] = [],
        certificates: [Certificate] = [],
        systemAnchors: Bool = false
    ) {
        self.identities = identities
        self.certificates = certificates
        trust = TrustStore(anchors: anchors, systemAnchors: systemAnchors ? SystemAnchors() : nil)
    }

    /// The same for a few.
    public init(_ identities: Identity..., trusting anchors: Certificate...) {
        self.init(identities, trusting: anchors)
    }

    /// The identity of the first recipient who is here.
    public func identity(for recipients: [EntityIdentifier]) -> Identity? {
        for recipient in recipients {
            if let identity = identities.first(where: { recipient.matches($0.certificate) }) { return identity }
        }
        return nil
    }

    /// The `certificates` that `signers` name.
    public func certificates(for signers: [EntityIdentifier]) -> [Certificate] {
        certificates.filter { certificate in signers.contains { $0.matches(certificate) } }
    }

    /// `accepted`
    public func exceptions() -> VerdictExceptions { accepted }

    /// The same trust for all certificates.
    public func trust(for certificates: [Certificate]) -> TrustStore { trust }
}
