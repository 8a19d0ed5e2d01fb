import Foundation

/// One way to turn what the user typed into the bytes that keys are derived from.
///
/// Writers disagree: PBES2 takes UTF-8, PKCS#12's own schemes a BMPString with a terminator (RFC 7292 appendix B.1),
/// an empty passphrase may also be none at all, accented letters come composed or not, and some widen bytes to BMP or
/// give PBES2 the BMPString. So a few forms are tried in turn.
struct PassphraseForm: Sendable {
    /// For PBES1, PBES2 and PBMAC1.
    let utf8: SecretBytes
    /// For the schemes of PKCS#12; empty if the passphrase is absent.
    let bmp: SecretBytes

    /// The form that is right for writing.
    init(writing passphrase: borrowing Passphrase) {
        self = passphrase.withBytes { PassphraseForm(utf8: Array($0), bmp: Self.bmp(Array($0))) }
    }

    private init(utf8: [UInt8], bmp: [UInt8]) {
        self.utf8 = SecretBytes(count: utf8.count) { $0.copyBytes(from: utf8) }
        self.bmp = SecretBytes(count: bmp.count) { $0.copyBytes(from: bmp) }
    }

    /// The forms to try when reading, the likeliest first; six at most.
    static func all(for passphrase: borrowing Passphrase?) -> [PassphraseForm] {
        let absent = PassphraseForm(utf8: [], bmp: [])
        let empty = PassphraseForm(utf8: [], bmp: [0, 0])
        switch passphrase {
        case .none: return [absent, empty]
        case .some(let passphrase):
            return passphrase.withBytes { bytes in
                guard !bytes.isEmpty else { return [empty, absent] }
                return forms(of: Array(bytes))
            }
        }
    }

    private static func forms(of bytes: [UInt8]) -> [PassphraseForm] {
        let given = PassphraseForm(utf8: bytes, bmp: bmp(bytes))
        // Old NSS gave PBES2 the BMPString.
        let widened = PassphraseForm(utf8: bmp(bytes), bmp: widen(bytes))
        guard !bytes.allSatisfy({ $0 < 0x80 }), let text = String(validating: bytes, as: UTF8.self) else {
            return [given, widened]
        }
        // A String cannot be wiped; only a passphrase beyond ASCII ever becomes one.
        let composed = Array(text.precomposedStringWithCanonicalMapping.utf8)
        let decomposed = Array(text.decomposedStringWithCanonicalMapping.utf8)
        let others = [composed, decomposed].filter { $0 != bytes }.map { PassphraseForm(utf8: $0, bmp: bmp($0)) }
        let latin1 =
            text.unicodeScalars.allSatisfy { $0.value < 0x100 } ? text.unicodeScalars.map { UInt8($0.value) } : nil
        return [given] + others + [latin1.map { PassphraseForm(utf8: $0, bmp: widen(bytes)) } ?? widened]
    }

    /// UTF-16 in network order with a terminator; each byte widened where the bytes are no UTF-8.
    private static func bmp(_ bytes: [UInt8]) -> [UInt8] {
        guard let text = String(validating: bytes, as: UTF8.self) else { return widen(bytes) }
        return (Array(text.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    private static func widen(_ bytes: [UInt8]) -> [UInt8] { (bytes + [0]).flatMap { [0, $0] } }
}
