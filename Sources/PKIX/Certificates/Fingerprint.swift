import ByteStreams
import LibCrypto
import SwiftASN1

/// The SHA-256 of the encoding of a certificate or certificate revocation list. It identifies that certificate or list.
public struct Fingerprint: Hashable, Sendable {
    /// The 32 bytes of the digest.
    public let bytes: [UInt8]

    /// The digest of an encoded certificate or certificate revocation list.
    init(of encoding: [UInt8]) throws(CMSError) {
        bytes = try lift { () throws(OpenSSLError) in try DigestAlgorithm.sha256.digest(encoding) }
    }

    /// Takes 32 bytes; nil if `bytes` has another length.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits, with or without the prefix `sha256:`; colons are ignored.
    public init?(_ text: some StringProtocol) {
        let prefix = "sha256:"
        let digits = text.lowercased().hasPrefix(prefix) ? Substring(text.dropFirst(prefix.count)) : Substring(text)
        guard let bytes = [UInt8](hexadecimal: digits.utf8, ignoring: ":") else { return nil }
        self.init(bytes: bytes)
    }

    /// Hashes all bytes in one step; Swift would hash an array byte by byte.
    public func hash(into hasher: inout Hasher) { hasher.combine(all: bytes) }

    /// The short form for tables: 16 digits. An attacker needs about 2^64 trials to find another certificate with the same
    /// digits.
    package var short: String { String(hexadecimal.prefix(16)) }

    /// The 64 hexadecimal digits without the prefix.
    public var hexadecimal: String { bytes.hexadecimal }
}

extension Fingerprint: CustomStringConvertible, Comparable, Codable {
    public var description: String { "sha256:\(hexadecimal)" }

    public static func < (a: Fingerprint, b: Fingerprint) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let fingerprint = Fingerprint(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a SHA-256 fingerprint")
        }
        self = fingerprint
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The first digits of a fingerprint, or all of them, as typed by a user.
package struct FingerprintPrefix: Hashable, Sendable {
    /// The minimum number of digits. That many digits suffice if only one fingerprint begins with them.
    package static let minimumCount = 8
    /// The number of digits of a fingerprint.
    private static let maximumCount = 64

    /// Hexadecimal digits in lower case.
    package let digits: String

    /// Parses 8 to 64 hexadecimal digits in either case, with or without the prefix `sha256:`; colons are ignored.
    package init?(_ text: some StringProtocol) {
        let text = text.lowercased()
        let digits = (text.hasPrefix("sha256:") ? text.dropFirst("sha256:".count) : text[...]).filter { $0 != ":" }
        guard (Self.minimumCount...Self.maximumCount).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.digits = digits
    }

    /// The fingerprint, if the prefix has all digits; nil otherwise.
    package var whole: Fingerprint? { Fingerprint(digits) }

    /// The first and the last fingerprint that begin with this prefix.
    package var range: ClosedRange<Fingerprint>? {
        let rest = Self.maximumCount - digits.utf8.count
        guard let first = Fingerprint(digits + String(repeating: "0", count: rest)),
            let last = Fingerprint(digits + String(repeating: "f", count: rest))
        else { return nil }
        return first...last
    }

    /// The `fingerprints` that begin with this prefix.
    package func matches(among fingerprints: some Sequence<Fingerprint>) -> Set<Fingerprint> {
        Set(fingerprints.filter { $0.hexadecimal.hasPrefix(digits) })
    }
}

extension FingerprintPrefix: CustomStringConvertible {
    package var description: String { "sha256:\(digits)" }
}

/// The SHA-256 of a public key. The digest is equal for all certificates of that key, however each certificate encodes the
/// key.
///
/// The SubjectPublicKeyInfo of one key has several encodings: RSA with or without parameters or as RSASSA-PSS, a curve point
/// uncompressed or compressed (over a prime field), RSA numbers with or without leading zeros. These differences are ignored.
/// The explicit parameters of a curve, however, are part of the key: an attacker who chooses the parameters can construct a
/// private key for any point.
///
/// RFC 5480 §2.2, RFC 8017 §A.1.1, RFC 7748 §5
package struct PublicKeyDigest: Hashable, Sendable {
    /// The 32 bytes of the digest.
    package let bytes: [UInt8]

    /// The digest of the key in the SubjectPublicKeyInfo `info`.
    init(of info: [UInt8], _ algorithm: PublicKeyAlgorithm) throws(CMSError) {
        let canonical = Self.canonical(info, algorithm) ?? info
        bytes = try lift { () throws(OpenSSLError) in try DigestAlgorithm.sha256.digest(canonical) }
    }

    /// Takes 32 bytes; nil if `bytes` has another length.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Hashes all bytes in one step; Swift would hash an array byte by byte.
    package func hash(into hasher: inout Hasher) { hasher.combine(all: bytes) }

    /// The kind of the key and its numbers; nil if the encoding itself must be digested.
    private static func canonical(_ info: [UInt8], _ algorithm: PublicKeyAlgorithm) -> [UInt8]? {
        guard let bits = info.publicKeyBits else { return nil }
        switch algorithm {
        case .rsa, .rsaPSS:
            guard var fields = try? ElementReader(ASN1Node.read(bits)),
                let modulus = try? fields.next(.integer).primitive(),
                let exponent = try? fields.next(.integer).primitive()
            else { return nil }
            let shortest = Array(modulus.drop { $0 == 0 })
            return Array("RSA \(shortest.count) ".utf8) + shortest + exponent.drop { $0 == 0 }
        case .ellipticCurve(let curve):
            // For curves that are not over a prime field, points are compressed by another rule.
            guard algorithm.curveBits != nil, let point = compressed(bits) else { return nil }
            return Array("EC \(curve) ".utf8) + point
        case .x25519:
            // X25519 ignores the highest bit of a key, so this bit is cleared.
            guard let last = bits.last else { return nil }
            return Array("X25519 ".utf8) + bits.dropLast() + [last & 0x7F]
        default: return nil
        }
    }

    /// A point in its compressed form; nil if it cannot be compressed.
    ///
    /// SEC 1 §2.3.3
    private static func compressed(_ point: [UInt8]) -> [UInt8]? {
        guard let form = point.first else { return nil }
        switch form {
        case 2, 3: return point
        case 4, 6, 7:
            guard let last = point.last, point.count % 2 == 1 else { return nil }
            return [2 | last & 1] + point[1..<(1 + point.count / 2)]
        default: return nil
        }
    }
}

extension [UInt8] {
    /// The subjectPublicKey of an encoded SubjectPublicKeyInfo; nil if it is malformed.
    var publicKeyBits: [UInt8]? {
        guard var fields = try? ElementReader(ASN1Node.read(self)) else { return nil }
        _ = try? fields.next(.sequence)
        return try? fields.next(.bitString).bits()
    }
}
