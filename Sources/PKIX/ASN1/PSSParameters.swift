import LibCrypto
import SwiftASN1

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
    /// parameters say (RFC 4055 §1.2).
    static func restriction(_ publicKeyInfo: [UInt8]) throws -> PSSParameters? {
        var fields = try ElementReader(ASN1Node.read(publicKeyInfo))
        let identifier = try AlgorithmIdentifier(berEncoded: fields.next(.sequence))
        guard identifier.algorithm == ASN1ObjectIdentifier.Key.rsaPSS, let parameters = identifier.parameters else {
            return nil
        }
        return try PSSParameters(parameters)
    }

    /// The parameters for signing: `digest` for the message and the mask, with a salt of the same length, unless the key's
    /// own parameters differ.
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
