import ByteStreams
import LibCrypto

/// The key derivation of PKCS#12's own schemes.
///
/// RFC 7292 appendix B.2
enum PKCS12KDF {
    /// The use of the derived bytes.
    enum Purpose: Int {
        case key = 1
        case iv = 2
        case mac = 3
    }

    /// Derives `count` bytes from a passphrase that is encoded as a BMPString.
    ///
    /// - Parameter digest: libcrypto's name of the digest.
    static func derive(
        _ passphrase: SecretBytes,
        _ digest: String,
        salt: [UInt8],
        iterations: Int,
        id: Purpose,
        count: Int
    ) throws(OpenSSLError) -> SecretBytes {
        try PasswordDerivation.pkcs12(
            passphrase,
            digest,
            salt: salt,
            iterations: iterations,
            purpose: id.rawValue,
            count: count
        )
    }

    /// Whether gpgsm 2.2 derives a wrong key from this passphrase (a BMPString) with SHA-1.
    ///
    /// If the output is longer than one digest, RFC 7292 appendix B.2, step 6.C adds the first digest, repeated, plus one to
    /// each block of salt and passphrase. gpgsm 2.2 (observed in 2.2.40) writes the sum without its leading zero bytes, so
    /// the remaining bytes are in the wrong place.
    static func isMisreadByGpgsm(
        _ passphrase: SecretBytes,
        _ salt: [UInt8],
        iterations: Int
    ) throws(OpenSSLError) -> Bool {
        let digest = DigestAlgorithm.sha1
        let first = try derive(
            passphrase,
            digest.libcryptoName,
            salt: salt,
            iterations: iterations,
            id: .key,
            count: digest.byteCount
        )
        return first.withBytes { first in
            hasSumWithLeadingZero(salt.octets, plus: first)
                || passphrase.withBytes { hasSumWithLeadingZero($0, plus: first) }
        }
    }

    /// The block size of SHA-1, in bytes.
    private static let blockCount = 64

    /// Whether the sum of any block of `bytes` with `addend` plus one begins with a zero byte. `bytes` is repeated to whole
    /// blocks, and `addend` to one block.
    private static func hasSumWithLeadingZero(
        _ bytes: Span<UInt8>,
        plus addend: Span<UInt8>
    ) -> Bool {
        guard !bytes.isEmpty, !addend.isEmpty else { return false }
        return stride(from: 0, to: bytes.count, by: blockCount).contains { start in
            var sum = 1 << 8
            for place in (0..<blockCount).reversed() {
                sum = sum >> 8 + Int(bytes[(start + place) % bytes.count]) + Int(addend[place % addend.count])
            }
            return sum & 0xFF == 0
        }
    }
}
