package import SwiftASN1

/// A message digest that signatures, key derivation and MACs name.
public enum DigestAlgorithm: String, CaseIterable, Sendable {
    case md5
    case sha1
    case sha224
    case sha256
    case sha384
    case sha512

    /// The digest's object identifier (RFC 5754 §2, RFC 3370 §2).
    package var oid: ASN1ObjectIdentifier {
        switch self {
        case .md5: [1, 2, 840, 113549, 2, 5]
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha224: [2, 16, 840, 1, 101, 3, 4, 2, 4]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
        case .sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3]
        }
    }

    /// The digest that `oid` names, or nil if it is none of ours.
    package init?(oid: ASN1ObjectIdentifier) {
        guard let match = Self.allCases.first(where: { $0.oid == oid }) else { return nil }
        self = match
    }

    /// The name by which libcrypto fetches it.
    package var libcryptoName: String {
        self == .md5 || self == .sha1 ? rawValue.uppercased() : "SHA2-\(rawValue.dropFirst(3))"
    }

    /// The length of its value in bytes.
    package var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The micalg parameter of multipart/signed (RFC 8551 §3.5.3.2).
    public var micalg: String { self == .md5 ? "md5" : "sha-\(rawValue.dropFirst(3))" }

    /// The digest that a micalg parameter names, in today's or the older spelling; nil if unknown.
    public init?(micalg: some StringProtocol) {
        self.init(rawValue: micalg.lowercased().replacing("-", with: ""))
    }
}
