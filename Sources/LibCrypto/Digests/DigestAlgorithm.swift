/// A message digest for signatures, key derivation and MACs.
package enum DigestAlgorithm: String, CaseIterable, Sendable {
    case md5
    case sha1
    case sha224
    case sha256
    case sha384
    case sha512
    // Read but never written, because few other programs support these digests.
    case sha3_224 = "sha3-224"
    case sha3_256 = "sha3-256"
    case sha3_384 = "sha3-384"
    case sha3_512 = "sha3-512"
    /// SHAKE256 with 64 bytes of output, as CMS uses it (RFC 8702 §3.1).
    case shake256

    /// The name by which libcrypto fetches the digest.
    package var libcryptoName: String {
        switch self {
        case .md5, .sha1, .sha3_224, .sha3_256, .sha3_384, .sha3_512, .shake256: rawValue.uppercased()
        case .sha224, .sha256, .sha384, .sha512: "SHA2-\(rawValue.dropFirst(3))"
        }
    }

    /// The length of the digest value in bytes.
    package var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha224, .sha3_224: 28
        case .sha256, .sha3_256: 32
        case .sha384, .sha3_384: 48
        case .sha512, .sha3_512, .shake256: 64
        }
    }
}
