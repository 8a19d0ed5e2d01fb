package import LibCrypto
package import SwiftASN1

/// The signature algorithm in a SignerInfo: the scheme, and the digest if the algorithm determines it.
///
/// RFC 3370 §3, RFC 4056, RFC 5754 §3, RFC 8419, RFC 9688 §3, RFC 9882
package struct SignatureAlgorithm: Sendable {
    /// The scheme by which a signature is made.
    package enum Scheme: Sendable, Equatable {
        case dsa
        case ecdsa
        case ed25519
        case postQuantum(PostQuantumScheme)
        case rsaPKCS1
        case rsaPSS(saltLength: Int, mgf: DigestAlgorithm)

        /// Whether a key of this kind can make signatures with this scheme. libcrypto would accept the key for other schemes
        /// as well.
        package func fits(_ key: PublicKeyAlgorithm) -> Bool {
            switch (self, key) {
            case (.dsa, .dsa), (.ecdsa, .ellipticCurve), (.ed25519, .ed25519), (.rsaPKCS1, .rsa), (.rsaPSS, .rsa),
                (.rsaPSS, .rsaPSS):
                true
            case (.postQuantum(let scheme), .postQuantum(let other)): scheme == other
            default: false
            }
        }

        /// The padding of RSA signatures; `none` for other schemes.
        package var padding: SignaturePadding {
            switch self {
            case .dsa, .ecdsa, .ed25519, .postQuantum: .none
            case .rsaPKCS1: .pkcs1
            case .rsaPSS(let saltLength, let mgf): .pss(saltLength: saltLength, mgf: mgf)
            }
        }

        /// Whether the scheme hashes the message itself and therefore needs the whole message at once.
        package var takesMessage: Bool {
            switch self {
            case .ed25519, .postQuantum: true
            case .dsa, .ecdsa, .rsaPKCS1, .rsaPSS: false
            }
        }
    }

    package let scheme: Scheme
    /// The digest that the algorithm determines; nil if only digestAlgorithm names it.
    package let digest: DigestAlgorithm?

    /// The name in reports: `rsa-pkcs1`, `rsa-pss`, `ecdsa`, `ed25519`, `dsa`, or that of ML-DSA, such as `ml-dsa-65`.
    package var name: String {
        switch scheme {
        case .dsa: "dsa"
        case .ecdsa: "ecdsa"
        case .ed25519: "ed25519"
        case .postQuantum(let scheme): scheme.reportName
        case .rsaPKCS1: "rsa-pkcs1"
        case .rsaPSS: "rsa-pss"
        }
    }

    /// All algorithms except RSASSA-PSS and ML-DSA.
    static let rows: [(oid: ASN1ObjectIdentifier, scheme: Scheme, digest: DigestAlgorithm?)] = [
        (ASN1ObjectIdentifier.Key.rsa, .rsaPKCS1, nil),
        ([1, 2, 840, 113549, 1, 1, 4], .rsaPKCS1, .md5),
        ([1, 2, 840, 113549, 1, 1, 5], .rsaPKCS1, .sha1),
        ([1, 2, 840, 113549, 1, 1, 14], .rsaPKCS1, .sha224),
        ([1, 2, 840, 113549, 1, 1, 11], .rsaPKCS1, .sha256),
        ([1, 2, 840, 113549, 1, 1, 12], .rsaPKCS1, .sha384),
        ([1, 2, 840, 113549, 1, 1, 13], .rsaPKCS1, .sha512),
        (ASN1ObjectIdentifier.Key.ellipticCurve, .ecdsa, nil),
        ([1, 2, 840, 10045, 4, 1], .ecdsa, .sha1),
        ([1, 2, 840, 10045, 4, 3, 1], .ecdsa, .sha224),
        ([1, 2, 840, 10045, 4, 3, 2], .ecdsa, .sha256),
        ([1, 2, 840, 10045, 4, 3, 3], .ecdsa, .sha384),
        ([1, 2, 840, 10045, 4, 3, 4], .ecdsa, .sha512),
        // RFC 9688 §3: accepted when reading, never written.
        ([2, 16, 840, 1, 101, 3, 4, 3, 13], .rsaPKCS1, .sha3_224),
        ([2, 16, 840, 1, 101, 3, 4, 3, 14], .rsaPKCS1, .sha3_256),
        ([2, 16, 840, 1, 101, 3, 4, 3, 15], .rsaPKCS1, .sha3_384),
        ([2, 16, 840, 1, 101, 3, 4, 3, 16], .rsaPKCS1, .sha3_512),
        ([2, 16, 840, 1, 101, 3, 4, 3, 9], .ecdsa, .sha3_224),
        ([2, 16, 840, 1, 101, 3, 4, 3, 10], .ecdsa, .sha3_256),
        ([2, 16, 840, 1, 101, 3, 4, 3, 11], .ecdsa, .sha3_384),
        ([2, 16, 840, 1, 101, 3, 4, 3, 12], .ecdsa, .sha3_512),
        // RFC 8419 §2.3 and §3.1: SHA-512, with signed attributes and without.
        (ASN1ObjectIdentifier.Key.ed25519, .ed25519, .sha512),
        (ASN1ObjectIdentifier.Key.dsa, .dsa, nil),
        ([1, 2, 840, 10040, 4, 3], .dsa, .sha1),
        ([2, 16, 840, 1, 101, 3, 4, 3, 1], .dsa, .sha224),
        ([2, 16, 840, 1, 101, 3, 4, 3, 2], .dsa, .sha256),
    ]

    /// Reads a signature algorithm.
    ///
    /// - Throws: `CMSError.unsupported` with the name or OID of an unsupported algorithm.
    package init(_ identifier: AlgorithmIdentifier) throws {
        if identifier.algorithm == ASN1ObjectIdentifier.Key.rsaPSS {
            let parameters = try PSSParameters(identifier.parameters)
            scheme = .rsaPSS(saltLength: parameters.saltLength, mgf: parameters.mgf)
            digest = parameters.digest
        } else if let row = Self.rows.first(where: { $0.oid == identifier.algorithm }) {
            scheme = row.scheme
            digest = row.digest
        } else if let row = PostQuantumScheme(oid: identifier.algorithm), row.use == .signature, row.isOffered {
            scheme = .postQuantum(row)
            digest = nil
        } else {
            throw CMSError.unsupported("signature algorithm \(identifier.algorithm.algorithmName)")
        }
    }

    init(rsa digest: DigestAlgorithm) {
        scheme = .rsaPKCS1
        self.digest = digest
    }
}

extension DigestAlgorithm {
    /// The digest named by an AlgorithmIdentifier.
    ///
    /// - Throws: `CMSError.unsupported`
    package init(named identifier: AlgorithmIdentifier) throws {
        guard let digest = DigestAlgorithm(oid: identifier.algorithm) else {
            throw CMSError.unsupported("digest \(identifier.algorithm.algorithmName)")
        }
        self = digest
    }

    /// The digest in the identifier of MGF1, the only mask generation function of RFC 8017.
    package init(mgf1 identifier: AlgorithmIdentifier) throws {
        guard identifier.algorithm == ASN1ObjectIdentifier.Key.mgf1, let parameters = identifier.parameters else {
            throw CMSError.unsupported("mask generation function \(identifier.algorithm.algorithmName)")
        }
        try self.init(named: AlgorithmIdentifier(berEncoded: parameters))
    }

    /// MGF1 with this digest.
    package var mgf1: AlgorithmIdentifier {
        let inner = AlgorithmIdentifier(oid, parameters: AlgorithmIdentifier.null)
        return AlgorithmIdentifier(ASN1ObjectIdentifier.Key.mgf1, parameters: try? der { try $0.serialize(inner) })
    }
}

extension ASN1NodeCollection {
    /// The first element; nil if there is none.
    package var first: ASN1Node? { first { _ in true } }
}

extension ASN1ObjectIdentifier {
    /// The name of a digest, key or signature algorithm; the dotted OID if the algorithm is unknown.
    package var algorithmName: String {
        DigestAlgorithm(oid: self)?.rawValue ?? Self.algorithmNames[self] ?? PostQuantumScheme(oid: self)?.reportName
            ?? "\(self)"
    }

    /// Names of algorithms that are in no other table of this package, but that reports distinguish.
    private static let algorithmNames: [ASN1ObjectIdentifier: String] = [
        [2, 16, 840, 1, 101, 3, 4, 2, 11]: "shake128", [1, 2, 840, 113549, 2, 2]: "md2",
        Key.x25519: "x25519", Key.ed25519: "ed25519", [1, 3, 101, 113]: "ed448",
        Key.rsa: "rsa", Key.rsaPSS: "rsa-pss", Key.ellipticCurve: "ec", Key.dsa: "dsa",
    ]
}

/// The identifiers of digests in CMS and MIME.
extension DigestAlgorithm {
    /// The digest's object identifier (RFC 5754 §2, RFC 3370 §2, RFC 9688 §2, RFC 8702 §3).
    package var oid: ASN1ObjectIdentifier {
        switch self {
        case .md5: [1, 2, 840, 113549, 2, 5]
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha224: [2, 16, 840, 1, 101, 3, 4, 2, 4]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
        case .sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3]
        case .sha3_224: [2, 16, 840, 1, 101, 3, 4, 2, 7]
        case .sha3_256: [2, 16, 840, 1, 101, 3, 4, 2, 8]
        case .sha3_384: [2, 16, 840, 1, 101, 3, 4, 2, 9]
        case .sha3_512: [2, 16, 840, 1, 101, 3, 4, 2, 10]
        case .shake256: [2, 16, 840, 1, 101, 3, 4, 2, 12]
        }
    }

    /// The digest with the given OID; nil if it is not supported.
    package init?(oid: ASN1ObjectIdentifier) {
        guard let match = Self.named.first(where: { $0.oid == oid }) else { return nil }
        self = match.digest
    }

    /// Computed once, because creating an OID takes longer than comparing it.
    private static let named = allCases.map { (oid: $0.oid, digest: $0) }

    /// The micalg parameter of multipart/signed (RFC 8551 §3.5.3.2).
    package var micalg: String {
        switch self {
        case .md5, .sha3_224, .sha3_256, .sha3_384, .sha3_512, .shake256: rawValue
        case .sha1, .sha224, .sha256, .sha384, .sha512: "sha-\(rawValue.dropFirst(3))"
        }
    }

    /// The digest named by a micalg parameter, in the current or the older spelling; nil if unknown.
    package init?(micalg: some StringProtocol) {
        let name = micalg.lowercased().replacing("-", with: "")
        guard let match = Self.allCases.first(where: { $0.rawValue.replacing("-", with: "") == name }) else {
            return nil
        }
        self = match
    }
}
