import ByteStreams
package import LibCrypto

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

    /// Derives `count` bytes from a passphrase as a BMPString.
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

/// The bytes for key derivation, as one way of converting the user's passphrase yields them.
///
/// Programs convert passphrases in different ways. PBES2 takes UTF-8, and PKCS#12's own schemes take a BMPString with a
/// terminator (RFC 7292 appendix B.1). An empty passphrase may be encoded as absent. Accented letters may be composed or
/// decomposed. Some programs widen bytes to a BMPString, or give PBES2 the BMPString. Therefore several forms are tried.
package struct PassphraseForm: Sendable {
    /// The bytes for PBES1, PBES2 and PBMAC1.
    package let utf8: SecretBytes
    /// The bytes for the schemes of PKCS#12; empty if the passphrase is absent.
    let bmp: SecretBytes

    /// The correct form, used for writing.
    package init(writing passphrase: borrowing Passphrase) {
        self = passphrase.withBytes { PassphraseForm(utf8: Self.secret($0), bmp: Self.bmp($0)) }
    }

    private init(utf8: SecretBytes, bmp: SecretBytes) {
        self.utf8 = utf8
        self.bmp = bmp
    }

    /// The forms to try when reading, most likely first; at most four.
    static func all(for passphrase: borrowing Passphrase?) -> [PassphraseForm] {
        let absent = PassphraseForm(utf8: secret([]), bmp: secret([]))
        let empty = PassphraseForm(utf8: secret([]), bmp: secret([0, 0]))
        switch passphrase {
        case .none: return [absent, empty]
        case .some(let passphrase):
            return passphrase.withBytes { $0.isEmpty ? [empty, absent] : forms(of: $0) }
        }
    }

    private static func forms(of bytes: Span<UInt8>) -> [PassphraseForm] {
        let given = PassphraseForm(utf8: secret(bytes), bmp: bmp(bytes))
        // Old versions of NSS give PBES2 the BMPString.
        let widened = PassphraseForm(utf8: bmp(bytes), bmp: widen(bytes))
        guard let text = nonASCIIText(bytes) else { return [given, widened] }
        let composed = Array(text.canonicallyComposed.utf8)
        let decomposed = Array(text.canonicallyDecomposed.utf8)
        let others = [composed, decomposed].filter { !$0.elementsEqual(text.utf8) }
            .map { PassphraseForm(utf8: secret($0), bmp: bmp($0.octets)) }
        let latin1 =
            text.unicodeScalars.allSatisfy { $0.value < 0x100 } ? text.unicodeScalars.map { UInt8($0.value) } : nil
        return [given] + others + [latin1.map { PassphraseForm(utf8: secret($0), bmp: widen(bytes)) } ?? widened]
    }

    private static func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes) }

    private static func secret(_ bytes: Span<UInt8>) -> SecretBytes { SecretBytes(copying: bytes) }

    /// The text of UTF-8 bytes that are not all ASCII; nil for other bytes. A String cannot be wiped, so no other passphrase
    /// is converted to a String.
    private static func nonASCIIText(_ bytes: Span<UInt8>) -> String? {
        guard bytes.has8Bit else { return nil }
        var copy = Array(bytes)
        defer { copy.wipe() }
        return String(validating: copy, as: UTF8.self)
    }

    /// UTF-16 in network order with a terminator. If the bytes are not UTF-8, each byte is widened to two.
    private static func bmp(_ bytes: Span<UInt8>) -> SecretBytes {
        guard let text = nonASCIIText(bytes) else { return widen(bytes) }
        return secret((Array(text.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] })
    }

    /// Each byte after a zero byte, and two zero bytes at the end. The bytes are written directly into the result, so that no
    /// other copy remains in memory.
    private static func widen(_ bytes: Span<UInt8>) -> SecretBytes {
        SecretBytes(count: 2 * (bytes.count + 1)) { target in
            for index in bytes.indices { target[2 * index + 1] = bytes[index] }
        }
    }
}
