import ByteStreams
import LibCrypto

/// The SHA-256 of a certificate's encoding, which identifies the certificate.
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

    /// Reads 64 hexadecimal digits, with or without the prefix `sha256:`; colons between bytes are allowed.
    public init?(_ text: some StringProtocol) {
        let prefix = "sha256:"
        let digits = text.lowercased().hasPrefix(prefix) ? Substring(text.dropFirst(prefix.count)) : Substring(text)
        guard let bytes = [UInt8](hexadecimal: digits.utf8, ignoring: ":") else { return nil }
        self.init(bytes: bytes)
    }

    /// Hashes all bytes in one step; Swift would hash an array byte by byte.
    public func hash(into hasher: inout Hasher) { hasher.combine(all: bytes) }

    /// The short form for tables. It has enough digits that an attacker cannot find another certificate with the same digits
    /// by trial.
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
