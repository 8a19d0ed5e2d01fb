package import LibCrypto
package import PKIX
import SwiftASN1

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The claims of one signer: its identifier and algorithms, and the signature. Nothing is verified.
///
/// RFC 5652 §5.3
package struct SignerInfo: Sendable {
    /// The identifier of the certificate that verifies the signature.
    package let identifier: EntityIdentifier
    /// The digest algorithm for the content; nil if it is unknown.
    package let digest: DigestAlgorithm?
    /// The digest's name for users, or its dotted OID.
    package let digestName: String
    /// The signed attributes in order.
    let signedAttributes: [Attribute]
    /// The original encoding of the signed attributes, with its own tag; nil if there are none.
    package let signedAttributesEncoding: [UInt8]?
    let signatureAlgorithm: AlgorithmIdentifier
    package let signature: [UInt8]
    let unsignedAttributes: [Attribute]

    /// Reads a SignerInfo.
    init(berEncoded node: ASN1Node) throws {
        var nodes = try node.children(expecting: .sequence).makeIterator()
        _ = try Int(berEncoded: &nodes)
        guard let identifier = nodes.next() else { throw CMSError.malformed(.cms, "SignerInfo") }
        self.identifier = try EntityIdentifier(berEncoded: identifier)
        let digestAlgorithm = try AlgorithmIdentifier(berEncoded: &nodes)
        digest = DigestAlgorithm(oid: digestAlgorithm.algorithm)
        digestName = digestAlgorithm.displayName
        guard var next = nodes.next() else { throw CMSError.malformed(.cms, "SignerInfo") }
        if next.identifier == .context(0) {
            signedAttributes = try next.children(expecting: .context(0)).map { try Attribute(berEncoded: $0) }
            signedAttributesEncoding = Array(next.encodedBytes)
            guard let following = nodes.next() else { throw CMSError.malformed(.cms, "SignerInfo") }
            next = following
        } else {
            (signedAttributes, signedAttributesEncoding) = ([], nil)
        }
        signatureAlgorithm = try AlgorithmIdentifier(berEncoded: next)
        signature = Array(try ASN1OctetString(berEncoded: &nodes).bytes)
        unsignedAttributes =
            try nodes.next()?.children(expecting: .context(1)).map { try Attribute(berEncoded: $0) } ?? []
    }

    /// The claimed signing time; nil unless the attribute occurs exactly once.
    ///
    /// RFC 5652 §11.3
    package var signingTime: Date? {
        signedValue(ASN1ObjectIdentifier.CMSAttribute.signingTime).flatMap { try? ASN1Node.read($0).time() }
    }

    /// The capabilities that the signer announces, best first; empty unless the attribute occurs exactly once.
    ///
    /// RFC 8551 §2.5.2
    package var capabilities: [SMIMECapability] {
        signedValue(ASN1ObjectIdentifier.CMSAttribute.smimeCapabilities).flatMap { try? SMIMECapability.list($0) } ?? []
    }

    /// The signature algorithm's name for users, or its dotted OID.
    package var signatureName: String {
        (try? SignatureAlgorithm(signatureAlgorithm).name) ?? signatureAlgorithm.displayName
    }

    /// Whether the signature covers the content itself, instead of a digest or signed attributes.
    var signsWholeContent: Bool {
        signedAttributesEncoding == nil && (try? SignatureAlgorithm(signatureAlgorithm).scheme.takesMessage) == true
    }

    /// Whether digestAlgorithm has no effect: ML-DSA hashes the whole content itself (RFC 9882 §3.3).
    var ignoresDigest: Bool {
        guard signsWholeContent, let scheme = try? SignatureAlgorithm(signatureAlgorithm).scheme else { return false }
        if case .postQuantum = scheme { return true }
        return false
    }

    /// The names or OIDs of the signed attributes, for reports.
    package var signedAttributeTypes: [String] { signedAttributes.map(\.type.displayName) }

    /// The names or OIDs of the unsigned attributes, for reports.
    package var unsignedAttributeTypes: [String] { unsignedAttributes.map(\.type.displayName) }

    /// The value of a signed attribute; nil unless it occurs once and has one value.
    func signedValue(_ type: ASN1ObjectIdentifier) -> [UInt8]? {
        let found = signedAttributes.all(type)
        return found.count == 1 ? found[0].onlyValue : nil
    }
}
