import ByteStreams
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
    /// The original encoding of the signed attributes, with the tag [0]; nil if there are none.
    package let signedAttributesEncoding: [UInt8]?
    let signatureAlgorithm: AlgorithmIdentifier
    /// The signature value.
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

    /// The claimed signing time; nil unless the attribute occurs exactly once and can be read.
    ///
    /// RFC 5652 §11.3
    package var signingTime: Date? {
        signedValue(ASN1ObjectIdentifier.CMSAttribute.signingTime).flatMap { try? ASN1Node.read($0).time() }
    }

    /// The capabilities that the signer announces, best first; empty unless the attribute occurs exactly once and can be
    /// parsed.
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

    /// Whether digestAlgorithm has no effect: without signed attributes, ML-DSA hashes the whole content itself (RFC 9882
    /// §3.3).
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

/// The preferences that a signer announces for mail addressed to the signer.
extension SignerInfo {
    /// The DER of the announced SMIMECapabilities; nil unless the attribute occurs exactly once, has at most 4096 bytes, and
    /// can be parsed.
    ///
    /// RFC 8551 §2.5.2
    package var capabilitiesEncoding: [UInt8]? {
        guard let value = signedValue(ASN1ObjectIdentifier.CMSAttribute.smimeCapabilities), value.count <= 4096,
            (try? SMIMECapability.list(value)) != nil
        else { return nil }
        return value
    }

    /// The identifier of the certificate that others should use to encrypt mail to the signer; nil unless the attribute occurs
    /// exactly once and can be read.
    ///
    /// SMIMEEncryptionKeyPreference of RFC 8551 §2.5.3
    package var encryptionKeyPreference: EntityIdentifier? {
        guard let value = signedValue(ASN1ObjectIdentifier.CMSAttribute.encryptionKeyPreference) else { return nil }
        return try? EntityIdentifier(encryptionKeyPreference: ASN1Node.read(value))
    }
}

extension EntityIdentifier {
    /// The DER of an SMIMEEncryptionKeyPreference with this identifier.
    func encryptionKeyPreference() -> [UInt8] {
        der { coder in
            switch self {
            case .issuerAndSerial(let issuer, let serialNumber):
                coder.appendConstructedNode(identifier: .context(0)) { coder in
                    coder.serializeRawBytes(issuer)
                    coder.appendPrimitiveNode(identifier: .integer) { $0.append(contentsOf: serialNumber) }
                }
            case .subjectKeyIdentifier(let identifier):
                coder.appendPrimitiveNode(identifier: .context(2)) { $0.append(contentsOf: identifier) }
            }
        }
    }

    /// Reads one of the three alternatives: issuer and serial number, RecipientKeyIdentifier, or key identifier.
    fileprivate init(encryptionKeyPreference node: ASN1Node) throws {
        switch node.identifier {
        case .context(0):
            self = try BER.sequence(node, identifier: .context(0)) { nodes in
                try EntityIdentifier(issuer: nodes.next(), serialNumber: nodes.next())
            }
        case .context(1):
            // A date and another identifier may follow, which do not help to identify the certificate.
            guard let identifier = try node.children(expecting: .context(1)).first(where: { _ in true }) else {
                throw CMSError.malformed(.cms, "RecipientKeyIdentifier")
            }
            self = .subjectKeyIdentifier(Array(try ASN1OctetString(berEncoded: identifier).bytes))
        default:
            let octets = try ASN1OctetString(berEncoded: node, withIdentifier: .context(2))
            self = .subjectKeyIdentifier(Array(octets.bytes))
        }
    }
}

/// The hash that binds a signature to the signer's certificate.
///
/// ESSCertID and ESSCertIDv2 of RFC 5035 §3-5.
struct SigningCertificate {
    /// The digest; nil if the algorithm is unknown, so that no certificate matches.
    let digest: DigestAlgorithm?
    let hash: [UInt8]
    /// The certificate's issuer and serial number; nil if the attribute does not contain them.
    let name: EntityIdentifier?

    func matches(_ certificate: Certificate) -> Bool {
        guard let digest, let value = try? digest.digest(certificate.der), value == hash else { return false }
        return name?.matches(certificate) ?? true
    }

    /// The DER of `SigningCertificateV2` for `certificate`, with the default digest SHA-256, which is omitted.
    static func encode(_ certificate: Certificate) throws -> [UInt8] {
        try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.appendConstructedNode(identifier: .sequence) { coder in
                        try coder.serialize(ASN1OctetString(contentBytes: certificate.fingerprint.bytes[...]))
                    }
                }
            }
        }
    }

    /// Reads the first entry of an attribute value. Only this entry binds the signature.
    ///
    /// - Parameter isVersion2: whether the value is SigningCertificateV2, whose entries may name a digest.
    init(_ encoded: [UInt8], isVersion2: Bool) throws {
        let list = try ASN1Node.read(encoded).children(expecting: .sequence).first?.children(expecting: .sequence).first
        guard let list else { throw CMSError.malformed(.cms, "SigningCertificate") }
        var nodes = try list.children(expecting: .sequence).makeIterator()
        var next = nodes.next()
        if isVersion2, let node = next, node.identifier == .sequence {
            digest = DigestAlgorithm(oid: try AlgorithmIdentifier(berEncoded: node).algorithm)
            next = nodes.next()
        } else {
            digest = isVersion2 ? .sha256 : .sha1
        }
        guard let next else { throw CMSError.malformed(.cms, "ESSCertID") }
        hash = Array(try ASN1OctetString(berEncoded: next).bytes)
        name = try nodes.next().map(Self.issuerSerial)
    }

    /// Reads `IssuerSerial`, whose issuer is one directoryName.
    private static func issuerSerial(_ node: ASN1Node) throws -> EntityIdentifier {
        var fields = try ElementReader(node)
        let issuer = try fields.next(.sequence).onlyChild()
        guard issuer.identifier == .context(4) else { throw CMSError.malformed(.cms, "IssuerSerial") }
        return try EntityIdentifier(issuer: issuer.onlyChild(), serialNumber: fields.next())
    }

    private init() {
        digest = nil
        hash = []
        name = nil
    }

    /// A value that matches no certificate, for an attribute that is present but cannot be parsed.
    static let unreadable = SigningCertificate()
}

extension SignerInfo {
    /// The certificates to which the signing-certificate attributes bind the signature, at most one for each version.
    var signingCertificates: [SigningCertificate] {
        typealias AttributeType = ASN1ObjectIdentifier.CMSAttribute
        return [(AttributeType.signingCertificate, false), (AttributeType.signingCertificateV2, true)].compactMap {
            type,
            isVersion2 in
            guard signedAttributes.contains(where: { $0.type == type }) else { return nil }
            // An attribute that occurs twice (RFC 5035 §3 forbids this) or cannot be parsed matches no certificate.
            return signedValue(type).flatMap { try? SigningCertificate($0, isVersion2: isVersion2) } ?? .unreadable
        }
    }
}
