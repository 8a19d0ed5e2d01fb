package import SwiftASN1

/// A content-encryption algorithm. Each algorithm that can be read is a row of the table `all`.
///
/// A new mode of operation needs code for its parameters in `ContentEncryption`. A mode that cannot be decrypted in pieces
/// also needs code in `DecryptingReader` and `BufferedDecryption`.
public struct ContentCipher: Hashable, Sendable {
    /// The mode of operation, which determines the CMS structure for the cipher.
    enum Mode: Sendable {
        /// Cipher block chaining with PKCS#7 padding: EnvelopedData, unauthenticated.
        case cbc
        /// Counter with CBC-MAC: AuthEnvelopedData. libcrypto requires the whole content in one call.
        case ccm
        /// ChaCha20-Poly1305: AuthEnvelopedData (RFC 8103).
        case chacha
        /// Galois/counter mode: AuthEnvelopedData.
        case gcm

        /// Whether changed ciphertext is detected.
        var isAuthenticated: Bool {
            switch self {
            case .cbc: false
            case .ccm, .chacha, .gcm: true
            }
        }

        /// Whether libcrypto requires the whole content in one call. Such modes are only read.
        var needsWholeContent: Bool {
            switch self {
            case .ccm: true
            case .cbc, .chacha, .gcm: false
            }
        }
    }

    /// The name for users, such as `aes-256-gcm`.
    public let name: String
    /// The OID of the algorithm.
    package let oid: ASN1ObjectIdentifier
    /// The key length in bytes. The parameters of RC2 may name a different length.
    package let keyCount: Int
    let mode: Mode
    /// The algorithm's name in libcrypto.
    let libcryptoName: String
    /// Whether the cipher is only used to read old mail, with a warning, and never to write.
    public let isHistoric: Bool

    /// Whether the cipher detects changed ciphertext.
    public var isAuthenticated: Bool { mode.isAuthenticated }

    /// Whether smime can also encrypt with the cipher.
    public var isWritable: Bool { !isHistoric && !mode.needsWholeContent }

    /// The length in bytes of the initialization vector or nonce that smime writes. For CBC and ChaCha20-Poly1305, this is the
    /// only valid length.
    var ivCount: Int {
        switch mode {
        case .ccm, .chacha, .gcm: 12
        case .cbc: isHistoric ? 8 : 16
        }
    }

    static let rc2OID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 3, 2]

    /// All ciphers, best first. RFC 3565 §4, RFC 5084 §3, RFC 8103 §3, RFC 3370 §5.
    public static let all: [ContentCipher] = [
        .aes256GCM, .chaCha20Poly1305, .aes192GCM, .aes128GCM, .aes256CCM, .aes192CCM, .aes128CCM, .aes256CBC,
        .aes192CBC, .aes128CBC, .tripleDES, .rc2,
    ]

    /// The ciphers that can be used to encrypt, best first.
    public static let writable = all.filter(\.isWritable)

    /// AES with a 256-bit key in Galois/Counter mode, for AuthEnvelopedData (RFC 5084).
    public static let aes256GCM = ContentCipher(
        "aes-256-gcm",
        [2, 16, 840, 1, 101, 3, 4, 1, 46],
        keyCount: 32,
        mode: .gcm
    )
    /// AES with a 128-bit key in Galois/Counter mode, for AuthEnvelopedData (RFC 5084).
    public static let aes128GCM = ContentCipher(
        "aes-128-gcm",
        [2, 16, 840, 1, 101, 3, 4, 1, 6],
        keyCount: 16,
        mode: .gcm
    )
    /// AES with a 256-bit key in CBC mode, for EnvelopedData (RFC 3565).
    public static let aes256CBC = ContentCipher(
        "aes-256-cbc",
        [2, 16, 840, 1, 101, 3, 4, 1, 42],
        keyCount: 32,
        mode: .cbc
    )
    /// AES with a 128-bit key in CBC mode, for EnvelopedData (RFC 3565).
    public static let aes128CBC = ContentCipher(
        "aes-128-cbc",
        [2, 16, 840, 1, 101, 3, 4, 1, 2],
        keyCount: 16,
        mode: .cbc
    )
    /// ChaCha20 with Poly1305, for AuthEnvelopedData (RFC 8103).
    public static let chaCha20Poly1305 =
        ContentCipher("chacha20-poly1305", [1, 2, 840, 113549, 1, 9, 16, 3, 18], keyCount: 32, mode: .chacha)
    static let aes256CCM = ContentCipher("aes-256-ccm", [2, 16, 840, 1, 101, 3, 4, 1, 47], keyCount: 32, mode: .ccm)
    static let aes192CCM = ContentCipher("aes-192-ccm", [2, 16, 840, 1, 101, 3, 4, 1, 27], keyCount: 24, mode: .ccm)
    static let aes128CCM = ContentCipher("aes-128-ccm", [2, 16, 840, 1, 101, 3, 4, 1, 7], keyCount: 16, mode: .ccm)
    static let aes192GCM = ContentCipher("aes-192-gcm", [2, 16, 840, 1, 101, 3, 4, 1, 26], keyCount: 24, mode: .gcm)
    static let aes192CBC = ContentCipher("aes-192-cbc", [2, 16, 840, 1, 101, 3, 4, 1, 22], keyCount: 24, mode: .cbc)
    static let tripleDES = ContentCipher(
        "des-ede3-cbc",
        [1, 2, 840, 113549, 3, 7],
        keyCount: 24,
        mode: .cbc,
        isHistoric: true
    )
    static let rc2 = ContentCipher("rc2-cbc", rc2OID, keyCount: 16, mode: .cbc, isHistoric: true)

    private init(
        _ name: String,
        _ oid: ASN1ObjectIdentifier,
        keyCount: Int,
        mode: Mode,
        isHistoric: Bool = false
    ) {
        self.name = name
        self.oid = oid
        self.keyCount = keyCount
        self.mode = mode
        self.isHistoric = isHistoric
        libcryptoName = name.uppercased()
    }

    /// The cipher with the OID `oid`; nil if there is none.
    package init?(oid: ASN1ObjectIdentifier) {
        guard let row = Self.all.first(where: { $0.oid == oid }) else { return nil }
        self = row
    }

    /// The cipher called `name`; nil if there is none, or if it cannot be used to encrypt.
    public init?(writable name: some StringProtocol) {
        guard let row = Self.writable.first(where: { $0.name == name.lowercased() }) else { return nil }
        self = row
    }
}
