import SwiftASN1

/// The hash by which a signature is bound to the signer's certificate.
///
/// ESSCertID and ESSCertIDv2 of RFC 5035 §3-5.
struct SigningCertificate {
    /// The digest; nil if it is none that we know, and then nothing matches.
    let digest: DigestAlgorithm?
    let hash: [UInt8]

    func matches(_ certificate: Certificate) -> Bool {
        guard let digest, let value = try? digest.digest(certificate.der) else { return false }
        return value == hash
    }

    /// The DER of `SigningCertificateV2` naming `certificate` by SHA-256, the default, which is then not written.
    static func encode(_ certificate: Certificate) throws -> [UInt8] {
        let hash = try DigestAlgorithm.sha256.digest(certificate.der)
        return try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.appendConstructedNode(identifier: .sequence) { coder in
                        try coder.serialize(ASN1OctetString(contentBytes: hash[...]))
                    }
                }
            }
        }
    }

    /// The first, and binding, entry of an attribute value.
    ///
    /// - Parameter isVersion2: whether the value is SigningCertificateV2, whose entries may name a digest.
    init(_ encoded: [UInt8], isVersion2: Bool) throws {
        let list = try ASN1Node.read(encoded).children(.sequence).first?.children(.sequence).first
        guard let list else { throw CMSError.malformed(.cms, "SigningCertificate") }
        var nodes = try list.children(.sequence).makeIterator()
        var next = nodes.next()
        if isVersion2, let node = next, node.identifier == .sequence {
            digest = DigestAlgorithm(oid: try AlgorithmIdentifier(berEncoded: node).algorithm)
            next = nodes.next()
        } else {
            digest = isVersion2 ? .sha256 : .sha1
        }
        guard let next else { throw CMSError.malformed(.cms, "ESSCertID") }
        hash = Array(try ASN1OctetString(berEncoded: next).bytes)
    }

    private init() {
        digest = nil
        hash = []
    }

    /// Matches no certificate: for an attribute that is there but cannot be read.
    static let unreadable = SigningCertificate()
}

extension SignerInfo {
    /// The certificate that each signing-certificate attribute binds the signature to.
    var signingCertificates: [SigningCertificate] {
        typealias Known = ASN1ObjectIdentifier.CMSAttribute
        return [(Known.signingCertificate, false), (Known.signingCertificateV2, true)].flatMap { type, isVersion2 in
            signedAttributes.all(type).map { attribute in
                attribute.onlyValue.flatMap { try? SigningCertificate($0, isVersion2: isVersion2) } ?? .unreadable
            }
        }
    }
}
