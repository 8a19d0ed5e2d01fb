import LibCrypto
import PKIX
import SwiftASN1

/// The parameters of a KEMRecipientInfo: the encapsulated secret, the key derivation, and the wrap for the content-encryption
/// key.
///
/// RFC 9629 §3 and §5
struct KeyEncapsulation: Sendable {
    let scheme: PostQuantumScheme
    /// The digest of HKDF, which is used without a salt (RFC 9936 §2.2.1).
    let kdfDigest: DigestAlgorithm
    let wrap: KeyWrap
    let ciphertext: [UInt8]
    let userKeyingMaterial: [UInt8]?

    /// id-ori-kem, the OtherRecipientInfo type of KEMRecipientInfo.
    static let type: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 16, 13, 3]

    /// The OIDs of HKDF, one for each digest (RFC 8619 §2).
    static let derivations: [(oid: ASN1ObjectIdentifier, digest: DigestAlgorithm)] = [
        ([1, 2, 840, 113549, 1, 9, 16, 3, 28], .sha256), ([1, 2, 840, 113549, 1, 9, 16, 3, 29], .sha384),
        ([1, 2, 840, 113549, 1, 9, 16, 3, 30], .sha512),
    ]

    /// The parameters for wrapping a key of `count` bytes: HKDF with SHA-256, which every program must support (RFC 9936
    /// §2.1), and AES key wrap. The wrapping key is as long as the wrapped key, but not shorter than the scheme requires.
    init(writing scheme: PostQuantumScheme, ciphertext: [UInt8], forKeyOf count: Int) throws {
        self.scheme = scheme
        kdfDigest = .sha256
        wrap = try KeyWrap(keyCount: max(count, scheme.wrappingKeyCount))
        self.ciphertext = ciphertext
        userKeyingMaterial = nil
    }

    /// Reads the fields of KEMRecipientInfo between the recipient identifier and the wrapped key.
    ///
    /// - Throws: `CMSError.unsupported` with the name of an unsupported algorithm.
    init(_ fields: inout ElementReader) throws {
        let mechanism = try AlgorithmIdentifier(berEncoded: fields.next(.sequence))
        guard let scheme = PostQuantumScheme(oid: mechanism.algorithm), scheme.use == .keyEncapsulation,
            scheme.isOffered
        else { throw CMSError.unsupported("key encapsulation \(mechanism.displayName)") }
        self.scheme = scheme
        ciphertext = try fields.next(.octetString).octets()
        let derivation = try AlgorithmIdentifier(berEncoded: fields.next(.sequence))
        guard let row = Self.derivations.first(where: { $0.oid == derivation.algorithm }) else {
            throw CMSError.unsupported("key derivation \(derivation.displayName)")
        }
        kdfDigest = row.digest
        let count = try fields.next(.integer).integer(upTo: 65_535)
        userKeyingMaterial = try fields.optional(.context(0))?.onlyChild().octets()
        wrap = try KeyWrap(AlgorithmIdentifier(berEncoded: fields.next(.sequence)))
        guard count == wrap.keyCount else { throw CMSError.unsupported("a kekLength that does not fit the key wrap") }
    }

    /// The derivation and the wrap in words, for users.
    var detail: String { "hkdf with \(kdfDigest.rawValue), \(wrap.identifier.algorithm.displayName)" }

    /// Writes the fields that `init(_:)` reads.
    func serialize(into coder: inout DER.Serializer) throws {
        try coder.serialize(AlgorithmIdentifier(scheme.oid))
        try coder.serialize(ASN1OctetString(contentBytes: ciphertext[...]))
        guard let derivation = Self.derivations.first(where: { $0.digest == kdfDigest })?.oid else {
            throw CMSError.unsupported("hkdf with \(kdfDigest.rawValue)")
        }
        try coder.serialize(AlgorithmIdentifier(derivation))
        try coder.serialize(wrap.keyCount)
        try serializeUserKeyingMaterial(into: &coder)
        try coder.serialize(wrap.identifier)
    }

    /// Derives the key-encryption key from the encapsulated secret.
    ///
    /// RFC 9629 §5 (CMSORIforKEMOtherInfo); libcrypto: `EVP_KDF` "HKDF"
    func keyEncryptionKey(from secret: SecretBytes) throws -> SecretBytes {
        let info = try der { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(wrap.identifier)
                try coder.serialize(wrap.keyCount)
                try serializeUserKeyingMaterial(into: &coder)
            }
        }
        return try KeyDerivationFunction.hkdf(salt: [], info: info)
            .derive(secret, digest: kdfDigest, count: wrap.keyCount)
    }

    private func serializeUserKeyingMaterial(into coder: inout DER.Serializer) throws {
        guard let userKeyingMaterial else { return }
        try coder.serialize(
            ASN1OctetString(contentBytes: userKeyingMaterial[...]),
            explicitlyTaggedWithIdentifier: .context(0)
        )
    }
}
