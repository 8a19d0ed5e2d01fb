package import LibCrypto
public import PKIX
import SwiftASN1

/// A recipient of an encrypted message.
public struct Recipient: Sendable {
    /// How the content-encryption key is wrapped for RSA keys. For other keys there is only one way.
    package enum RSAWrapping: String, CaseIterable, Sendable {
        /// RSAES-OAEP with SHA-256 (RFC 8551 §2.3).
        case oaep
        /// RSAES-OAEP with its default digest, SHA-1; collisions of SHA-1 do no harm here (RFC 3560 §2.3).
        case oaepSHA1 = "oaep-sha1"
        case oaepSHA384 = "oaep-sha384"
        case oaepSHA512 = "oaep-sha512"
        /// RSAES-PKCS1-v1_5, for programs that support nothing else.
        case pkcs1

        /// The digest for hashing and mask generation; nil for PKCS1-v1_5.
        var digest: DigestAlgorithm? {
            switch self {
            case .oaep: .sha256
            case .oaepSHA1: .sha1
            case .oaepSHA384: .sha384
            case .oaepSHA512: .sha512
            case .pkcs1: nil
            }
        }
    }

    /// The key that decrypts the content.
    private enum Key: Sendable {
        case certificate(Certificate)
        case secret(SharedSecret)
    }

    private let key: Key
    /// The certificate whose key decrypts the content; nil for a shared secret.
    public var certificate: Certificate? { if case .certificate(let certificate) = key { certificate } else { nil } }
    /// The shared secret that decrypts the content; nil for a certificate.
    var secret: SharedSecret? { if case .secret(let secret) = key { secret } else { nil } }
    /// Whether the RecipientInfo names the certificate by its key identifier, if it has one, instead of issuer and
    /// serial number.
    package var usesKeyIdentifier: Bool
    /// How the content-encryption key is wrapped, if the certificate has an RSA key.
    package var rsaWrapping: RSAWrapping
    /// The capabilities that the recipient announced; nil if unknown. They determine the cipher, but not how the key is
    /// wrapped: `rsaWrapping` is set when the recipient is created.
    public var capabilities: [SMIMECapability]?

    /// A recipient whose certificate is not checked. The caller must decide whether it is valid, trusted and usable for
    /// encryption.
    public init(unchecked certificate: Certificate) { self.init(unchecked: certificate, rsaWrapping: .oaep) }

    /// A recipient who knows `secret`.
    package init(_ secret: SharedSecret) {
        key = .secret(secret)
        (rsaWrapping, usesKeyIdentifier) = (.oaep, false)
    }

    /// A recipient whose certificate is not checked, with a choice of key wrapping.
    ///
    /// - Parameter rsaWrapping: the wrapping for an RSA key; `CipherNegotiation` determines what the recipient supports.
    package init(
        unchecked certificate: Certificate,
        rsaWrapping: RSAWrapping,
        usesKeyIdentifier: Bool = false
    ) {
        key = .certificate(certificate)
        self.rsaWrapping = rsaWrapping
        self.usesKeyIdentifier = usesKeyIdentifier
    }

    /// The name of the key wrapping in reports: `oaep` and others for RSA, or `ecdh`, `x25519`, `ml-kem-768`. It has no meaning
    /// for a shared secret.
    package var keyEncryption: String {
        switch certificate?.publicKeyAlgorithm {
        case .ellipticCurve: "ecdh"
        case .x25519: "x25519"
        case .postQuantum(let scheme): scheme.reportName
        default: rsaWrapping.rawValue
        }
    }

    /// Whether the RecipientInfo names the certificate by its key identifier: this is chosen, and the certificate has a key
    /// identifier.
    var isNamedByKeyIdentifier: Bool { usesKeyIdentifier && certificate?.subjectKeyIdentifier != nil }

    private func identifier(of certificate: Certificate) -> EntityIdentifier {
        if usesKeyIdentifier, let identifier = certificate.subjectKeyIdentifier {
            return .subjectKeyIdentifier(identifier)
        }
        return EntityIdentifier(certificate)
    }

    /// The DER of the RecipientInfo from which this recipient can unwrap `key`.
    ///
    /// - Throws: `CMSError.unsupported` if the certificate's key is weak or cannot be used for encryption.
    package func recipientInfo(for key: SecretBytes) throws -> [UInt8] {
        switch self.key {
        case .certificate(let certificate): try recipientInfo(for: key, to: certificate)
        case .secret(let secret): try secret.recipientInfo(for: key)
        }
    }

    private func recipientInfo(for key: SecretBytes, to certificate: Certificate) throws -> [UInt8] {
        switch certificate.publicKeyAlgorithm {
        // Weak keys are not used to encrypt (RFC 8551 §4.4).
        case let algorithm where algorithm.isWeak: break
        case .rsa: return try keyTransport(key, to: certificate)
        case .ellipticCurve, .x25519:
            guard let scheme = KeyAgreementScheme(writingFor: certificate.publicKeyAlgorithm) else { break }
            return try keyAgreement(key, scheme, to: certificate)
        case .postQuantum(let scheme):
            guard scheme.use == .keyEncapsulation, scheme.isOffered else { break }
            return try keyEncapsulation(key, scheme, to: certificate)
        default: break
        }
        throw CMSError.unsupported("encryption to \(certificate.publicKeyAlgorithm)")
    }

    private func keyTransport(_ key: SecretBytes, to certificate: Certificate) throws -> [UInt8] {
        let padding: RSAPadding
        let algorithm: AlgorithmIdentifier
        if let digest = rsaWrapping.digest {
            // An RSA key of 2048 bits has room for the content-encryption key, two digests and two octets, for every digest
            // used here (RFC 8017 §7.1.1).
            padding = .oaep(digest: digest, mgf: digest, label: [])
            algorithm = try OAEPParameters.identifier(digest)
        } else {
            padding = .pkcs1
            algorithm = AlgorithmIdentifier(ASN1ObjectIdentifier.Key.rsa, parameters: AlgorithmIdentifier.null)
        }
        let publicKey = try certificate.publicKey()
        let encrypted = try key.withBytes { bytes throws(OpenSSLError) in try publicKey.encrypt(bytes, padding: padding)
        }
        return try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(isNamedByKeyIdentifier ? 2 : 0)
                identifier(of: certificate).serialize(into: &coder)
                try coder.serialize(algorithm)
                try coder.serialize(ASN1OctetString(contentBytes: encrypted[...]))
            }
        }
    }

    private func keyAgreement(
        _ key: SecretBytes,
        _ scheme: KeyAgreementScheme,
        to certificate: Certificate
    ) throws -> [UInt8] {
        let publicKey = try certificate.publicKey()
        let ephemeral = try publicKey.generateEphemeralKey()
        let secret = try ephemeral.agree(with: publicKey.owned)
        let wrap = try KeyWrap(keyCount: key.count)
        let wrappingKey = try scheme.keyEncryptionKey(from: secret, wrap: wrap, userKeyingMaterial: nil)
        let encrypted = try wrap.wrap(key, under: wrappingKey)
        let point = try ephemeral.encodedPublicKey()
        let wrapIdentifier = try wrap.identifier.encoded()
        typealias Key = ASN1ObjectIdentifier.Key
        let kind = certificate.publicKeyAlgorithm == .x25519 ? Key.x25519 : Key.ellipticCurve
        return try der { coder in
            try coder.appendConstructedNode(identifier: .context(1)) { coder in
                try coder.serialize(3)
                try coder.appendConstructedNode(identifier: .context(0)) { coder in
                    try coder.appendConstructedNode(identifier: .context(1)) { coder in
                        try coder.serialize(AlgorithmIdentifier(kind))
                        try coder.serialize(ASN1BitString(bytes: point[...]))
                    }
                }
                try coder.serialize(AlgorithmIdentifier(scheme.oid, parameters: wrapIdentifier))
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.appendConstructedNode(identifier: .sequence) { coder in
                        try serializeAgreementIdentifier(of: certificate, into: &coder)
                        try coder.serialize(ASN1OctetString(contentBytes: encrypted[...]))
                    }
                }
            }
        }
    }

    /// KEMRecipientInfo (RFC 9629 §3, RFC 9936 §2.1).
    private func keyEncapsulation(
        _ key: SecretBytes,
        _ scheme: PostQuantumScheme,
        to certificate: Certificate
    ) throws -> [UInt8] {
        let (ciphertext, secret) = try certificate.publicKey().encapsulate()
        let encapsulation = try KeyEncapsulation(writing: scheme, ciphertext: ciphertext, forKeyOf: key.count)
        let encrypted = try encapsulation.wrap.wrap(key, under: encapsulation.keyEncryptionKey(from: secret))
        return try der { coder in
            try coder.appendConstructedNode(identifier: .context(4)) { coder in
                try coder.serialize(KeyEncapsulation.type)
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(0)
                    identifier(of: certificate).serialize(into: &coder)
                    try encapsulation.serialize(into: &coder)
                    try coder.serialize(ASN1OctetString(contentBytes: encrypted[...]))
                }
            }
        }
    }

    /// Whether the RecipientInfo is OtherRecipientInfo.
    var isOther: Bool { if case .postQuantum = certificate?.publicKeyAlgorithm { true } else { false } }

    /// `KeyAgreeRecipientIdentifier`, in which a key identifier is inside a SEQUENCE.
    private func serializeAgreementIdentifier(
        of certificate: Certificate,
        into coder: inout DER.Serializer
    ) throws {
        let identifier = identifier(of: certificate)
        guard case .subjectKeyIdentifier(let octets) = identifier else { return identifier.serialize(into: &coder) }
        try coder.appendConstructedNode(identifier: .context(0)) { coder in
            try coder.serialize(ASN1OctetString(contentBytes: octets[...]))
        }
    }
}
