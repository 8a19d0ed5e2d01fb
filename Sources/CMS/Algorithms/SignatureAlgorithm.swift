import COpenSSL
import SwiftASN1

/// A signature algorithm as a SignerInfo names it: the scheme, and the digest where the algorithm fixes one.
///
/// RFC 3370 §3, RFC 4056, RFC 5754 §3
package struct SignatureAlgorithm: Sendable {
    /// How the signature value is made of a digest.
    enum Scheme: Sendable, Equatable {
        case dsa
        case ecdsa
        case rsaPKCS1
        case rsaPSS(saltLength: Int, mgf: DigestAlgorithm)

        /// Whether a key of this kind makes such signatures; libcrypto would do with it whatever the key can.
        func fits(_ key: PublicKeyAlgorithm) -> Bool {
            switch (self, key) {
            case (.dsa, .dsa), (.ecdsa, .ellipticCurve), (.rsaPKCS1, .rsa), (.rsaPSS, .rsa), (.rsaPSS, .rsaPSS): true
            default: false
            }
        }
    }

    let scheme: Scheme
    /// The digest that the algorithm fixes; nil where digestAlgorithm alone says it.
    let digest: DigestAlgorithm?

    /// The name in reports: `rsa-pkcs1`, `rsa-pss`, `ecdsa`, `dsa`.
    package var name: String {
        switch scheme {
        case .dsa: "dsa"
        case .ecdsa: "ecdsa"
        case .rsaPKCS1: "rsa-pkcs1"
        case .rsaPSS: "rsa-pss"
        }
    }

    /// Every algorithm without parameters of its own: one row each.
    private static let rows: [(oid: ASN1ObjectIdentifier, scheme: Scheme, digest: DigestAlgorithm?)] = [
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
        (ASN1ObjectIdentifier.Key.dsa, .dsa, nil),
        ([1, 2, 840, 10040, 4, 3], .dsa, .sha1),
        ([2, 16, 840, 1, 101, 3, 4, 3, 1], .dsa, .sha224),
        ([2, 16, 840, 1, 101, 3, 4, 3, 2], .dsa, .sha256),
    ]

    /// The algorithm that `identifier` names.
    ///
    /// - Throws: `CMSError.unsupported` with the name or number of any other.
    init(_ identifier: AlgorithmIdentifier) throws {
        if identifier.algorithm == ASN1ObjectIdentifier.Key.rsaPSS {
            let parameters = try PSSParameters(identifier.parameters)
            scheme = .rsaPSS(saltLength: parameters.saltLength, mgf: parameters.mgf)
            digest = parameters.digest
        } else if let row = Self.rows.first(where: { $0.oid == identifier.algorithm }) {
            scheme = row.scheme
            digest = row.digest
        } else {
            throw CMSError.unsupported("signature algorithm \(identifier.algorithm)")
        }
    }

    /// The algorithm that `key` signs with, and how a SignerInfo names it.
    ///
    /// - Throws: `CMSError.unsupported` for a key that cannot sign.
    static func signing(with key: PrivateKey, digest: DigestAlgorithm) throws -> (Self, AlgorithmIdentifier) {
        switch key.algorithm {
        case .rsa:
            return try (
                Self(rsa: digest),
                AlgorithmIdentifier(ASN1ObjectIdentifier.Key.rsa, parameters: AlgorithmIdentifier.null)
            )
        case .rsaPSS:
            let parameters = PSSParameters(digest: digest, mgf: digest, saltLength: digest.byteCount)
            let identifier = AlgorithmIdentifier(ASN1ObjectIdentifier.Key.rsaPSS, parameters: try parameters.encoded())
            return (try Self(identifier), identifier)
        case .ellipticCurve:
            guard let row = rows.first(where: { $0.scheme == .ecdsa && $0.digest == digest }) else { break }
            let identifier = AlgorithmIdentifier(row.oid)
            return (try Self(identifier), identifier)
        default: break
        }
        throw CMSError.unsupported("signing with \(key.algorithm) and \(digest.rawValue)")
    }

    private init(rsa digest: DigestAlgorithm) throws {
        scheme = .rsaPKCS1
        self.digest = digest
    }
}

/// `RSASSA-PSS-params` (RFC 4055 §3.1).
struct PSSParameters {
    var digest = DigestAlgorithm.sha1
    var mgf = DigestAlgorithm.sha1
    var saltLength = 20

    init(digest: DigestAlgorithm, mgf: DigestAlgorithm, saltLength: Int) {
        self.digest = digest
        self.mgf = mgf
        self.saltLength = saltLength
    }

    /// Reads the parameters; absent ones, and every absent field, have the defaults of the RFC.
    init(_ encoded: [UInt8]?) throws {
        guard let encoded else { return }
        for field in try BER.parse(encoded).children(.sequence) {
            guard let value = try field.children(field.identifier).first else { continue }
            switch field.identifier {
            case .context(0): digest = try DigestAlgorithm(named: AlgorithmIdentifier(berEncoded: value))
            case .context(1): mgf = try DigestAlgorithm(mgf1: AlgorithmIdentifier(berEncoded: value))
            case .context(2): saltLength = try Int(berEncoded: value)
            default: break
            }
        }
        guard (0...1024).contains(saltLength) else { throw CMSError.malformed(.cms, "PSS salt length") }
    }

    func encoded() throws -> [UInt8] {
        try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(
                    AlgorithmIdentifier(digest.oid, parameters: AlgorithmIdentifier.null),
                    explicitlyTaggedWithIdentifier: .context(0)
                )
                try coder.serialize(mgf.mgf1, explicitlyTaggedWithIdentifier: .context(1))
                try coder.serialize(saltLength, explicitlyTaggedWithIdentifier: .context(2))
            }
        }
    }
}

extension DigestAlgorithm {
    /// The digest that an AlgorithmIdentifier names.
    ///
    /// - Throws: `CMSError.unsupported`
    init(named identifier: AlgorithmIdentifier) throws {
        guard let digest = DigestAlgorithm(oid: identifier.algorithm) else {
            throw CMSError.unsupported("digest \(identifier.algorithm)")
        }
        self = digest
    }

    /// The digest inside the identifier of MGF1, the only mask generation function there is.
    init(mgf1 identifier: AlgorithmIdentifier) throws {
        guard identifier.algorithm == ASN1ObjectIdentifier.Key.mgf1, let parameters = identifier.parameters else {
            throw CMSError.unsupported("mask generation function \(identifier.algorithm)")
        }
        try self.init(named: AlgorithmIdentifier(berEncoded: parameters))
    }

    /// MGF1 with this digest.
    var mgf1: AlgorithmIdentifier {
        let inner = AlgorithmIdentifier(oid, parameters: AlgorithmIdentifier.null)
        return AlgorithmIdentifier(ASN1ObjectIdentifier.Key.mgf1, parameters: try? der { try $0.serialize(inner) })
    }
}

extension ASN1NodeCollection {
    /// The first element, or nil.
    var first: ASN1Node? { first { _ in true } }
}
