import LibCrypto
import PKIX
import SwiftASN1

/// `RSAES-OAEP-params` (RFC 4055 §4.1).
enum OAEPParameters {
    /// Reads the parameters. Absent parameters and absent fields have the defaults of RFC 4055.
    static func read(_ encoded: [UInt8]?) throws -> RSAPadding {
        var (digest, mgf, label) = (DigestAlgorithm.sha1, DigestAlgorithm.sha1, [UInt8]())
        guard let encoded, encoded != AlgorithmIdentifier.null else {
            return .oaep(digest: digest, mgf: mgf, label: label)
        }
        // Each field occurs at most once, in order, and there are no others, as libcrypto requires.
        var fields = try ElementReader(BER.parse(encoded))
        func next(_ tag: ASN1Identifier) throws -> AlgorithmIdentifier? {
            try fields.optional(tag).map { try AlgorithmIdentifier(berEncoded: $0.onlyChild()) }
        }
        if let identifier = try next(.context(0)) { digest = try DigestAlgorithm(named: identifier) }
        if let identifier = try next(.context(1)) { mgf = try DigestAlgorithm(mgf1: identifier) }
        if let identifier = try next(.context(2)) {
            guard identifier.algorithm == ASN1ObjectIdentifier.Key.pSpecified, let octets = identifier.parameters
            else { throw CMSError.unsupported("OAEP label source \(identifier.algorithm)") }
            label = try Array(ASN1OctetString(berEncoded: octets).bytes)
        }
        guard fields.remaining.isEmpty else { throw CMSError.malformed(.cms, "OAEP parameters") }
        return .oaep(digest: digest, mgf: mgf, label: label)
    }

    /// The AlgorithmIdentifier of OAEP with the same digest for hashing and mask generation.
    ///
    /// SHA-1 is the default, which DER omits.
    static func identifier(_ digest: DigestAlgorithm) throws -> AlgorithmIdentifier {
        guard digest != .sha1 else {
            return AlgorithmIdentifier(ASN1ObjectIdentifier.Key.rsaOAEP, parameters: [0x30, 0x00])
        }
        let parameters = try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(
                    AlgorithmIdentifier(digest.oid, parameters: AlgorithmIdentifier.null),
                    explicitlyTaggedWithIdentifier: .context(0)
                )
                try coder.serialize(digest.mgf1, explicitlyTaggedWithIdentifier: .context(1))
            }
        }
        return AlgorithmIdentifier(ASN1ObjectIdentifier.Key.rsaOAEP, parameters: parameters)
    }
}
