import ByteStreams
package import LibCrypto

/// The bytes for key derivation that result from one way of converting the user's passphrase.
///
/// Programs convert passphrases in different ways. PBES2 takes UTF-8, and PKCS#12's own schemes take a BMPString with a
/// terminator (RFC 7292 appendix B.1). An empty passphrase may be encoded as absent. Accented letters may be composed or
/// decomposed. Some programs widen bytes to a BMPString, or give PBES2 the BMPString or Latin-1. Therefore several forms
/// are tried.
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
