import LibCrypto
package import SwiftASN1

/// `AlgorithmIdentifier`: an algorithm and its parameters, with the parameters in their original encoding.
///
/// RFC 5280 §4.1.1.2
package struct AlgorithmIdentifier: Hashable, Sendable {
    /// The algorithm.
    package let algorithm: ASN1ObjectIdentifier
    /// The encoding of the parameters; nil if absent. Some algorithms distinguish absent parameters from NULL.
    package let parameters: [UInt8]?

    /// The DER of an ASN.1 NULL.
    package static let null: [UInt8] = [0x05, 0x00]

    package init(_ algorithm: ASN1ObjectIdentifier, parameters: [UInt8]? = nil) {
        self.algorithm = algorithm
        self.parameters = parameters
    }
}

extension AlgorithmIdentifier {
    /// The DER of the identifier.
    package func encoded() throws -> [UInt8] { try PKIX.der { try $0.serialize(self) } }
}

extension AlgorithmIdentifier: BERImplicitlyTaggable, DERImplicitlyTaggable {
    package static var defaultIdentifier: ASN1Identifier { .sequence }

    package init(berEncoded node: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        self = try BER.sequence(node, identifier: identifier) { nodes in
            let algorithm = try ASN1ObjectIdentifier(berEncoded: &nodes)
            return AlgorithmIdentifier(algorithm, parameters: nodes.next().map { Array($0.encodedBytes) })
        }
    }

    package init(derEncoded node: ASN1Node, withIdentifier identifier: ASN1Identifier) throws {
        try self.init(berEncoded: node, withIdentifier: identifier)
    }

    package func serialize(into coder: inout DER.Serializer, withIdentifier identifier: ASN1Identifier) throws {
        try coder.appendConstructedNode(identifier: identifier) { coder in
            try coder.serialize(algorithm)
            if let parameters { coder.serializeRawBytes(parameters) }
        }
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

    /// Reads the parameters. Absent parameters and absent fields have the defaults of RFC 4055.
    init(_ encoded: [UInt8]?) throws {
        guard let encoded else { return }
        // Each field occurs at most once, in order, and there are no others, as libcrypto requires.
        var fields = try ElementReader(BER.parse(encoded))
        if let value = try fields.optional(.context(0))?.onlyChild() {
            digest = try DigestAlgorithm(named: AlgorithmIdentifier(berEncoded: value))
        }
        if let value = try fields.optional(.context(1))?.onlyChild() {
            mgf = try DigestAlgorithm(mgf1: AlgorithmIdentifier(berEncoded: value))
        }
        if let value = try fields.optional(.context(2))?.onlyChild() { saltLength = try Int(berEncoded: value) }
        if let value = try fields.optional(.context(3))?.onlyChild(), try Int(berEncoded: value) != 1 {
            throw CMSError.unsupported("PSS trailer field")
        }
        guard fields.remaining.isEmpty else { throw CMSError.malformed(.cms, "PSS parameters") }
        guard (0...1024).contains(saltLength) else { throw CMSError.malformed(.cms, "PSS salt length") }
    }

    /// The parameters in a key's SubjectPublicKeyInfo; nil if the key allows any parameters.
    ///
    /// A signature must use the same digest and mask generation function, and a salt that is at least as long as the key's
    /// parameters say (RFC 4055 §3.3).
    static func restriction(_ publicKeyInfo: [UInt8]) throws -> PSSParameters? {
        var fields = try ElementReader(ASN1Node.read(publicKeyInfo))
        let identifier = try AlgorithmIdentifier(berEncoded: fields.next(.sequence))
        guard identifier.algorithm == ASN1ObjectIdentifier.Key.rsaPSS, let parameters = identifier.parameters else {
            return nil
        }
        return try PSSParameters(parameters)
    }

    /// The parameters for signing: `digest` for the message and for the mask, and a salt as long as the digest. The key's own
    /// parameters may name another digest for the mask and require a longer salt.
    init(signing digest: DigestAlgorithm, publicKeyInfo: [UInt8]) throws {
        let restriction = try Self.restriction(publicKeyInfo)
        self.init(
            digest: digest,
            mgf: restriction?.mgf ?? digest,
            saltLength: max(restriction?.saltLength ?? 0, digest.byteCount)
        )
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

/// Object identifiers of content types and keys that are not in any algorithm table.
extension ASN1ObjectIdentifier {
    /// CMS content types, which also occur in PKCS#12 files and in PKCS#7 files of certificates (RFC 5652 §4-9).
    package enum ContentType {
        package static let data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
        package static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 2]
        package static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 6]
    }

    /// Key types, RSAES-OAEP and RSASSA-PSS, and the algorithms in the parameters of these two (RFC 4055).
    package enum Key {
        package static let rsa: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
        package static let rsaOAEP: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 7]
        package static let mgf1: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 8]
        package static let pSpecified: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 9]
        package static let rsaPSS: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 10]
        package static let ellipticCurve: ASN1ObjectIdentifier = [1, 2, 840, 10045, 2, 1]
        package static let x25519: ASN1ObjectIdentifier = [1, 3, 101, 110]
        package static let ed25519: ASN1ObjectIdentifier = [1, 3, 101, 112]
        package static let dsa: ASN1ObjectIdentifier = [1, 2, 840, 10040, 4, 1]
    }
}

extension ASN1ObjectIdentifier {
    /// Parses a dotted object identifier; nil if it is malformed.
    package init?(dotted: String) {
        guard let oid = try? ASN1ObjectIdentifier(dotRepresentation: dotted) else { return nil }
        self = oid
    }
}
