import SwiftASN1

/// Somebody to encrypt to.
public struct Recipient: Sendable {
    /// How an RSA key wraps the content-encryption key; other keys have one way only.
    public enum RSAWrapping: String, CaseIterable, Sendable {
        /// RSAES-OAEP with SHA-256 (RFC 8551 §2.3).
        case oaep
        /// RSAES-PKCS1-v1_5, for readers that know no other.
        case pkcs1
    }

    public let certificate: Certificate
    /// Whether the RecipientInfo names the certificate by its key identifier instead of issuer and serial number.
    public var usesKeyIdentifier: Bool
    public var rsaWrapping: RSAWrapping

    public init(_ certificate: Certificate, rsaWrapping: RSAWrapping = .pkcs1, usesKeyIdentifier: Bool = false) {
        self.certificate = certificate
        self.rsaWrapping = rsaWrapping
        self.usesKeyIdentifier = usesKeyIdentifier
    }

    private var identifier: EntityIdentifier {
        if usesKeyIdentifier, let identifier = certificate.subjectKeyIdentifier {
            return .subjectKeyIdentifier(identifier)
        }
        return EntityIdentifier(certificate)
    }

    /// The DER of the RecipientInfo that lets this recipient unwrap `key`.
    ///
    /// - Throws: `CMSError.unsupported` for a certificate whose key cannot be encrypted to.
    func recipientInfo(for key: SecretBytes) throws -> [UInt8] {
        switch certificate.publicKeyAlgorithm {
        case .rsa: return try keyTransport(key)
        case .ellipticCurve(let curve):
            guard let scheme = KeyAgreementScheme(curve: curve) else { break }
            return try keyAgreement(key, scheme)
        default: break
        }
        throw CMSError.unsupported("encryption to \(certificate.publicKeyAlgorithm)")
    }

    private func keyTransport(_ key: SecretBytes) throws -> [UInt8] {
        let padding: RSAPadding
        let algorithm: AlgorithmIdentifier
        switch rsaWrapping {
        case .oaep:
            padding = .oaep(digest: .sha256, mgf: .sha256, label: [])
            algorithm = try OAEPParameters.identifier(.sha256)
        case .pkcs1:
            padding = .pkcs1
            algorithm = AlgorithmIdentifier(ASN1ObjectIdentifier.Key.rsa, parameters: AlgorithmIdentifier.null)
        }
        let publicKey = try certificate.publicKey()
        let encrypted = try key.withBytes { bytes throws(OpenSSLError) in try publicKey.encrypt(bytes, padding: padding)
        }
        return try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(usesKeyIdentifier ? 2 : 0)
                identifier.serialize(into: &coder)
                try coder.serialize(algorithm)
                try coder.serialize(ASN1OctetString(contentBytes: encrypted[...]))
            }
        }
    }

    private func keyAgreement(_ key: SecretBytes, _ scheme: KeyAgreementScheme) throws -> [UInt8] {
        let publicKey = try certificate.publicKey()
        let ephemeral = try publicKey.generateSibling()
        let secret = try ephemeral.agree(with: publicKey.owned)
        let wrap = try KeyWrap(keyCount: key.count)
        let wrappingKey = try scheme.keyEncryptionKey(from: secret, wrap: wrap, userKeyingMaterial: nil)
        let encrypted = try wrap.wrap(key, under: wrappingKey)
        let point = try ephemeral.encodedPublicKey()
        let wrapIdentifier = try der { try $0.serialize(wrap.identifier) }
        return try der { coder in
            try coder.appendConstructedNode(identifier: .context(1)) { coder in
                try coder.serialize(3)
                try coder.appendConstructedNode(identifier: .context(0)) { coder in
                    try coder.appendConstructedNode(identifier: .context(1)) { coder in
                        try coder.serialize(AlgorithmIdentifier(ASN1ObjectIdentifier.Key.ellipticCurve))
                        try coder.serialize(ASN1BitString(bytes: point[...]))
                    }
                }
                try coder.serialize(AlgorithmIdentifier(scheme.oid, parameters: wrapIdentifier))
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.appendConstructedNode(identifier: .sequence) { coder in
                        try serializeAgreementIdentifier(into: &coder)
                        try coder.serialize(ASN1OctetString(contentBytes: encrypted[...]))
                    }
                }
            }
        }
    }

    /// `KeyAgreeRecipientIdentifier`, where a key identifier stands in a sequence of its own.
    private func serializeAgreementIdentifier(into coder: inout DER.Serializer) throws {
        guard case .subjectKeyIdentifier(let octets) = identifier else { return identifier.serialize(into: &coder) }
        try coder.appendConstructedNode(identifier: .context(0)) { coder in
            try coder.serialize(ASN1OctetString(contentBytes: octets[...]))
        }
    }
}
