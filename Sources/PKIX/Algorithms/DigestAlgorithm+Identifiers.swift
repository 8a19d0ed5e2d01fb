package import LibCrypto
package import SwiftASN1

/// The identifiers of digests in CMS and MIME.
extension DigestAlgorithm {
    /// The digest's object identifier (RFC 5754 §2, RFC 3370 §2, RFC 9688 §2, RFC 8702 §3).
    package var oid: ASN1ObjectIdentifier {
        switch self {
        case .md5: [1, 2, 840, 113549, 2, 5]
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha224: [2, 16, 840, 1, 101, 3, 4, 2, 4]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
        case .sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3]
        case .sha3_224: [2, 16, 840, 1, 101, 3, 4, 2, 7]
        case .sha3_256: [2, 16, 840, 1, 101, 3, 4, 2, 8]
        case .sha3_384: [2, 16, 840, 1, 101, 3, 4, 2, 9]
        case .sha3_512: [2, 16, 840, 1, 101, 3, 4, 2, 10]
        case .shake256: [2, 16, 840, 1, 101, 3, 4, 2, 12]
        }
    }

    /// The digest with the given OID; nil if it is not supported.
    package init?(oid: ASN1ObjectIdentifier) {
        guard let match = Self.named.first(where: { $0.oid == oid }) else { return nil }
        self = match.digest
    }

    /// Computed once, because creating an OID takes longer than comparing it.
    private static let named = allCases.map { (oid: $0.oid, digest: $0) }

    /// The micalg parameter of multipart/signed (RFC 8551 §3.5.3.2).
    package var micalg: String {
        switch self {
        case .md5, .sha3_224, .sha3_256, .sha3_384, .sha3_512, .shake256: rawValue
        case .sha1, .sha224, .sha256, .sha384, .sha512: "sha-\(rawValue.dropFirst(3))"
        }
    }

    /// The digest named by a micalg parameter, in the current or the older spelling; nil if unknown.
    package init?(micalg: some StringProtocol) {
        let name = micalg.lowercased().replacing("-", with: "")
        guard let match = Self.allCases.first(where: { $0.rawValue.replacing("-", with: "") == name }) else {
            return nil
        }
        self = match
    }
}
