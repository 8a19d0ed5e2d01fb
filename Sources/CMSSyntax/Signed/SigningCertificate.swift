import ByteStreams
import LibCrypto
import PKIX
import SwiftASN1

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
            // An attribute that occurs twice is ignored (RFC 5035 §3).
            return signedValue(type).flatMap { try? SigningCertificate($0, isVersion2: isVersion2) } ?? .unreadable
        }
    }
}
