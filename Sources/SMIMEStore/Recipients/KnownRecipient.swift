public import Foundation
public import PKIX

/// A certificate that is known for an address, or for all addresses of a domain.
public struct KnownRecipient: Sendable {
    /// The source of a certificate.
    @nonexhaustive
    public enum Source: String, Sendable {
        /// A user added the certificate for this address.
        case added
        /// The program in the setting `lookup.command` printed the certificate. It is not in the registry.
        case command
        /// The certificate is from a directory of certificates. It is not in the registry.
        case directory
        /// A user added the certificate for all addresses of the domain.
        case domain
        /// The certificate was learned from signed mail.
        case harvest
        /// The certificate is an account's own: the store has its private key.
        case identity
        /// The certificate was imported from a file of certificates.
        case imported = "import"
        /// The certificate is from an LDAP directory. It is not in the registry.
        case ldap
        /// The certificate is from a DNS record SMIMEA (RFC 8162). It is not in the registry.
        case smimea
    }

    /// Whether and why the certificate is trusted.
    @nonexhaustive
    public enum Trust: String, Sendable {
        /// The certificate is trusted if its chain leads to an anchor.
        case chain
        /// A user distrusted the certificate. It is never used.
        case distrusted
        /// The certificate is not used until a user trusts it, because it would replace another one, or a certificate
        /// with its key is held.
        case held
        /// A user pinned the certificate. It is trusted without a chain.
        case pinned
    }

    /// True unless the certificate is held or distrusted.
    var isAccepted: Bool { trust == .chain || trust == .pinned }

    /// The address or the domain for which the certificate is known.
    package let address: AddressScope
    /// The address, or `@` and the domain, for which the certificate is known.
    public var owner: String { address.text }
    /// The certificate. Whether mail is encrypted to it depends on the other certificates of the owner, too.
    public let certificate: Certificate
    /// The source from which the certificate was first known; `identity` if a learned or held certificate became the
    /// account's own.
    public let source: Source
    /// Details about the source, such as the Message-ID of the mail from which the certificate was learned; nil if there
    /// are none.
    public let sourceDetail: String?
    /// When the certificate was first seen: when it was added or found, or the signing time of the mail from which it was
    /// learned (the time of learning, if the mail has no plausible signing time). Mail that is older by a day or more
    /// sets an earlier time, except for an account's own certificate.
    public let firstSeen: Date
    /// When the certificate was last seen; at first the same as `firstSeen`. Mail that is newer by a day or more sets a
    /// later time.
    public let lastSeen: Date
    /// Whether and why the certificate is trusted.
    public let trust: Trust
    /// The DER of the SMIMECapabilities that the owner announced last in signed mail (RFC 8551 §2.5.2); nil if there are
    /// none.
    public let capabilities: [UInt8]?
    /// The signing time of the mail that announced the capabilities; nil if unknown.
    package let capabilitiesTime: Date?
    /// The position of the certificate's source in the order of the lookup: 0 for the registry.
    package let rank: Int
    /// Whether the address belongs to an account of this store that has private keys, but not the one of this certificate.
    /// False if a user added the certificate for the address or domain, or pinned it.
    var lacksKey = false
    /// The cached value of `announced`.
    let announcement = LazyValue<[SMIMECapability]?>()
    /// The database columns for the verdict on the certificate; nil if the certificate is not from the registry.
    var record: VerdictRecord?

    package init(
        address: AddressScope,
        certificate: Certificate,
        source: Source,
        sourceDetail: String? = nil,
        firstSeen: Date,
        lastSeen: Date,
        trust: Trust = .chain,
        capabilities: [UInt8]? = nil,
        capabilitiesTime: Date? = nil,
        rank: Int = 0
    ) {
        self.address = address
        self.certificate = certificate
        self.source = source
        self.sourceDetail = sourceDetail
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.trust = trust
        self.capabilities = capabilities
        self.capabilitiesTime = capabilitiesTime
        self.rank = rank
    }
}

extension KnownRecipient {
    /// The algorithms that the owner announced, preferred ones first; nil if there was no announcement. Both signed mail
    /// and the certificate can announce algorithms, and the newer announcement applies. The announcement in the certificate
    /// has the date `notBefore`.
    ///
    /// RFC 8551 §2.7.1, RFC 4262
    package var announced: [SMIMECapability]? { announcement.value { readCapabilities() } }

    private func readCapabilities() -> [SMIMECapability]? {
        let list: ([UInt8]?) -> [SMIMECapability]? = { $0.flatMap { try? SMIMECapability.list($0) } }
        let (mail, issued) = (list(capabilities), list(certificate.capabilitiesEncoding))
        guard let mail, let issued else { return mail ?? issued }
        return (capabilitiesTime ?? .distantPast) >= certificate.notBefore ? mail : issued
    }
}

extension KnownRecipient {
    /// This recipient with another trust.
    func with(_ trust: Trust) -> KnownRecipient {
        guard trust != self.trust else { return self }
        var recipient = KnownRecipient(
            address: address,
            certificate: certificate,
            source: source,
            sourceDetail: sourceDetail,
            firstSeen: firstSeen,
            lastSeen: lastSeen,
            trust: trust,
            capabilities: capabilities,
            capabilitiesTime: capabilitiesTime,
            rank: rank
        )
        recipient.record = record
        return recipient
    }
}

extension Array where Element: SelectableRecipient {
    /// The recipients of one address and its domain, with users' decisions applied to keys: if a key was distrusted, all
    /// its certificates are distrusted; if a key was pinned for an address or domain, all its certificates for that address
    /// or domain are pinned. If both apply, the certificates are distrusted.
    var decidedByKey: [Element] {
        guard contains(where: { $0.trust != .chain }) else { return self }
        let distrusted = Set(filter { $0.trust == .distrusted }.map(\.key))
        let pinned = Dictionary(grouping: filter { $0.trust == .pinned }, by: \.key)
        return map { recipient in
            if distrusted.contains(recipient.key) { return recipient.with(.distrusted) }
            let isPinned = pinned[recipient.key]?.contains { $0.address == recipient.address } ?? false
            return isPinned ? recipient.with(.pinned) : recipient
        }
    }
}

/// Users' decisions about keys: the addresses for which each key is pinned or distrusted. A decision applies to all
/// certificates for the key.
struct KeyDecisions {
    /// The addresses and domains for which each key was pinned or distrusted.
    private(set) var scopes: [PublicKeyDigest: TrustStore.Scopes] = [:]
    /// The certificates that were pinned.
    private(set) var pinnedCertificates: Set<Certificate> = []

    /// The decisions about the keys of `certificates`.
    init(on certificates: [Certificate], in database: SQLDatabase) throws {
        let keys = Set(certificates.map(\.publicKeyDigest))
        let select = """
            SELECT address_key, trust, der, fingerprint FROM certificate CROSS JOIN recipient
            WHERE certificate.id = recipient.certificate AND public_key = ? AND trust IN ('pinned', 'distrusted')
            """
        for key in keys {
            let rows = try database.cached(.keyDecisions, [key.bytes], cost: { 4096 * $0.count }) {
                try database.rows(select, [key.bytes])
            }
            for row in rows { try add(row, for: key) }
        }
    }

    private mutating func add(_ row: SQLRow, for key: PublicKeyDigest) throws {
        let address: String = try row.value("address_key")
        if try row.value("trust") as String == KnownRecipient.Trust.pinned.rawValue {
            scopes[key, default: .init()].pinned.insert(address)
            pinnedCertificates.insert(try row.certificate())
        } else {
            scopes[key, default: .init()].distrusted.insert(address)
        }
    }
}
