package import LibCrypto
package import PKIX
import SwiftASN1

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The claims of one signer: its identifier, its algorithms, and the signature itself. Nothing is verified.
///
/// RFC 5652 §5.3
package struct SignerInfo: Sendable {
    /// Names the certificate to verify the signature with.
    package let identifier: EntityIdentifier
    /// The digest of the content; nil if it is none that we know.
    package let digest: DigestAlgorithm?
    /// The digest's name for people, or its dotted OID.
    package let digestName: String
    /// The attributes under the signature, in the order of the message.
    let signedAttributes: [Attribute]
    /// The signed attributes as they were encoded, with their own tag; nil if there are none.
    package let signedAttributesEncoding: [UInt8]?
    let signatureAlgorithm: AlgorithmIdentifier
    package let signature: [UInt8]
    let unsignedAttributes: [Attribute]

    /// Reads a SignerInfo.
    init(berEncoded node: ASN1Node) throws {
        var nodes = try node.children(.sequence).makeIterator()
        _ = try Int(berEncoded: &nodes)
        guard let identifier = nodes.next() else { throw CMSError.malformed(.cms, "SignerInfo") }
        self.identifier = try EntityIdentifier(berEncoded: identifier)
        let digestAlgorithm = try AlgorithmIdentifier(berEncoded: &nodes)
        digest = DigestAlgorithm(oid: digestAlgorithm.algorithm)
        digestName = digestAlgorithm.displayName
        guard var next = nodes.next() else { throw CMSError.malformed(.cms, "SignerInfo") }
        if next.identifier == .context(0) {
            signedAttributes = try next.children(.context(0)).map { try Attribute(berEncoded: $0) }
            signedAttributesEncoding = Array(next.encodedBytes)
            guard let following = nodes.next() else { throw CMSError.malformed(.cms, "SignerInfo") }
            next = following
        } else {
            (signedAttributes, signedAttributesEncoding) = ([], nil)
        }
        signatureAlgorithm = try AlgorithmIdentifier(berEncoded: next)
        signature = Array(try ASN1OctetString(berEncoded: &nodes).bytes)
        unsignedAttributes = try nodes.next()?.children(.context(1)).map { try Attribute(berEncoded: $0) } ?? []
    }

    /// When the signer says that it signed; nil if it does not say so exactly once.
    ///
    /// RFC 5652 §11.3
    package var signingTime: Date? {
        signedValue(ASN1ObjectIdentifier.CMSAttribute.signingTime).flatMap { try? ASN1Node.read($0).time() }
    }

    /// The algorithms that the signer announces to read, best first; empty if it does not say so exactly once.
    ///
    /// RFC 8551 §2.5.2
    package var capabilities: [SMIMECapability] {
        signedValue(ASN1ObjectIdentifier.CMSAttribute.smimeCapabilities).flatMap { try? SMIMECapability.list($0) } ?? []
    }

    /// The signature algorithm's name for people, or its dotted OID.
    package var signatureName: String {
        (try? SignatureAlgorithm(signatureAlgorithm).name) ?? signatureAlgorithm.displayName
    }

    /// Whether the signature is over the content itself, and not over attributes or a digest of it.
    var signsWholeContent: Bool {
        signedAttributesEncoding == nil && (try? SignatureAlgorithm(signatureAlgorithm).scheme.takesMessage) == true
    }

    /// Whether digestAlgorithm has no meaning: ML-DSA hashes the whole content itself (RFC 9882 §3.3).
    var ignoresDigest: Bool {
        guard signsWholeContent, let scheme = try? SignatureAlgorithm(signatureAlgorithm).scheme else { return false }
        if case .postQuantum = scheme { return true }
        return false
    }

    /// The names or numbers of the attributes under the signature, for reports.
    package var signedAttributeTypes: [String] { signedAttributes.map(\.type.displayName) }

    /// The names or numbers of the attributes beside the signature, for reports.
    package var unsignedAttributeTypes: [String] { unsignedAttributes.map(\.type.displayName) }

    /// The value of a signed attribute that occurs once, with one value.
    func signedValue(_ type: ASN1ObjectIdentifier) -> [UInt8]? {
        let found = signedAttributes.all(type)
        return found.count == 1 ? found[0].onlyValue : nil
    }
}
