import LibCrypto
package import SwiftASN1

/// A parameter set of ML-DSA (signatures) or ML-KEM (key encapsulation).
///
/// libcrypto supports both since version 3.5. With an older version, reports name the scheme, and using the scheme throws an
/// error.
/// RFC 9882 §2, RFC 9936 §3; FIPS 204, FIPS 203
public struct PostQuantumScheme: Hashable, Sendable {
    /// What the keys of a scheme are used for.
    package enum Use: Sendable {
        case keyEncapsulation
        case signature
    }

    /// The name in the standard, such as `ML-DSA-65`. libcrypto uses the same name.
    public let name: String
    package let oid: ASN1ObjectIdentifier
    package let use: Use
    /// The digests that are at least as strong as the signature; empty for ML-KEM. Readers must support the first digest (RFC
    /// 9882 §3.3).
    let digests: [DigestAlgorithm]
    /// The length in bytes of the shortest key-encryption key that this package writes for the scheme (RFC 9936 §2); 0 for
    /// ML-DSA.
    package let wrappingKeyCount: Int

    /// The name in reports, such as `ml-dsa-65`.
    package var reportName: String { name.lowercased() }

    /// Signatures of security category 2 (FIPS 204, RFC 9882).
    public static let mlDSA44 = PostQuantumScheme("ML-DSA-44", 17, signingWith: [.sha512, .sha384, .sha256])
    /// Signatures of security category 3.
    public static let mlDSA65 = PostQuantumScheme("ML-DSA-65", 18, signingWith: [.sha512, .sha384])
    /// Signatures of security category 5.
    public static let mlDSA87 = PostQuantumScheme("ML-DSA-87", 19, signingWith: [.sha512])
    /// Key encapsulation of security category 1 (FIPS 203, RFC 9936).
    public static let mlKEM512 = PostQuantumScheme("ML-KEM-512", 1, wrappingKeyCount: 16)
    /// Key encapsulation of security category 3.
    public static let mlKEM768 = PostQuantumScheme("ML-KEM-768", 2, wrappingKeyCount: 32)
    /// Key encapsulation of security category 5.
    public static let mlKEM1024 = PostQuantumScheme("ML-KEM-1024", 3, wrappingKeyCount: 32)

    /// All schemes.
    package static let all = [mlDSA44, mlDSA65, mlDSA87, mlKEM512, mlKEM768, mlKEM1024]

    private init(_ name: String, _ number: UInt, signingWith digests: [DigestAlgorithm]) {
        self.name = name
        oid = [2, 16, 840, 1, 101, 3, 4, 3, number]
        use = .signature
        self.digests = digests
        wrappingKeyCount = 0
    }

    private init(_ name: String, _ number: UInt, wrappingKeyCount: Int) {
        self.name = name
        oid = [2, 16, 840, 1, 101, 3, 4, 4, number]
        use = .keyEncapsulation
        digests = []
        self.wrappingKeyCount = wrappingKeyCount
    }

    /// The scheme with the given OID; nil if there is none.
    package init?(oid: ASN1ObjectIdentifier) {
        guard let row = Self.all.first(where: { $0.oid == oid }) else { return nil }
        self = row
    }

    /// Whether this libcrypto supports the scheme.
    ///
    /// libcrypto: `EVP_SIGNATURE_fetch`, `EVP_KEM_fetch`
    package var isOffered: Bool { Self.offered.contains(self) }

    private static let offered = Set(
        all.filter { scheme in
            switch scheme.use {
            case .keyEncapsulation: Libcrypto.offersEncapsulation(scheme.name)
            case .signature: Libcrypto.offersSignature(scheme.name)
            }
        }
    )
}
