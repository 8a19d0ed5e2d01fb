import ByteStreams
import LibCrypto
import SwiftASN1

/// A password-based encryption scheme with its parameters, as in PKCS#8 and PKCS#12.
///
/// RFC 8018 §6, RFC 7292 appendix C
struct PasswordEncryption: Sendable {
    /// The cipher of a scheme.
    struct Cipher: Sendable {
        /// The name in reports.
        let name: String
        /// The name by which libcrypto fetches the cipher.
        let libcryptoName: String
        let keyCount: Int
        let ivCount: Int
        /// Whether the cipher exists only in libcrypto's legacy provider.
        var isLegacy = false
        /// Whether the key length varies. If true, the parameters of the key derivation specify the length.
        var hasVariableKey = false
        /// The effective key length of RC2 in bits, if the parameters specify it.
        var effectiveBits: Int?
    }

    /// How the key and the initialization vector are derived.
    enum Derivation: Sendable {
        /// PBKDF1 with the digest (RFC 8018 §6.1).
        case pbes1(DigestAlgorithm, salt: [UInt8], iterations: Int)
        case pbes2(KeyDerivation, iv: [UInt8])
        /// PKCS#12's own key derivation with SHA-1 (RFC 7292 appendix B).
        case pkcs12(salt: [UInt8], iterations: Int)
    }

    /// A derived key. Parts of a file may use the same derivation, which is then run only once.
    struct DerivedKey {
        fileprivate let function: KeyDerivation
        fileprivate let passphrase: SecretBytes
        fileprivate let key: SecretBytes
    }

    let cipher: Cipher
    let derivation: Derivation

    /// Whether both schemes are PBES2 and derive the same key from a passphrase; their initialization vectors may differ.
    func sharesKey(with other: PasswordEncryption) -> Bool {
        guard case .pbes2(let function, _) = derivation, case .pbes2(let others, _) = other.derivation else {
            return false
        }
        return function == others && cipher.keyCount == other.cipher.keyCount
    }

    /// The cost of one decryption, which the caller spends from a budget.
    ///
    /// - Throws: `CMSError.limitExceeded` if scrypt needs too much memory or time.
    func cost() throws(CMSError) -> DerivationCost {
        let block = DigestAlgorithm.sha1.byteCount
        return switch derivation {
        case .pbes1(_, _, let iterations): DerivationCost(iterations, count: block, blockCount: block)
        case .pkcs12(_, let iterations):
            // The key and the initialization vector are derived separately, and no vector is longer than a block.
            DerivationCost(iterations, count: cipher.keyCount + min(cipher.ivCount, 1) * block, blockCount: block)
        case .pbes2(let function, _): try function.cost(count: cipher.keyCount)
        }
    }

    /// Decrypts `ciphertext` with this form of the passphrase; nil if the padding is wrong.
    ///
    /// With a wrong passphrase, the padding is correct by chance once in 256 times. RC4 has no padding, so the result is
    /// never nil.
    ///
    /// - Parameter last: the key that was derived last, which is used again if it fits this scheme.
    func decrypt(
        _ ciphertext: [UInt8],
        with form: PassphraseForm,
        reusing last: inout DerivedKey?
    ) throws(CMSError) -> [UInt8]? {
        guard ciphertext.count <= Int(CInt.max) else { throw .limitExceeded("PKCS#12 size") }
        try checkIsOffered()
        let (key, iv) = try lift { () throws(OpenSSLError) in try keyAndIV(form, reusing: &last) }
        return try? transform(ciphertext.octets, key, iv: iv, isEncrypting: false)
    }

    /// Encrypts `plaintext` with this form of the passphrase.
    ///
    /// - Parameter last: the key that was derived last, which is used again if it fits this scheme.
    func encrypt(
        _ plaintext: Span<UInt8>,
        with form: PassphraseForm,
        reusing last: inout DerivedKey?
    ) throws(CMSError) -> [UInt8] {
        try checkIsOffered()
        return try lift { () throws(OpenSSLError) in
            let (key, iv) = try keyAndIV(form, reusing: &last)
            return try transform(plaintext, key, iv: iv, isEncrypting: true)
        }
    }

    private func checkIsOffered() throws(CMSError) {
        let isOffered: Bool
        do throws(OpenSSLError) {
            isOffered = try Libcrypto.offersCipher(cipher.libcryptoName, isLegacy: cipher.isLegacy)
        } catch { throw .unsupported("\(cipher.name), because libcrypto's legacy provider is missing (\(error))") }
        // Some distributions build libcrypto without some ciphers.
        guard isOffered else { throw .unsupported("\(cipher.name), which this libcrypto does not have") }
    }

    private func transform(
        _ input: Span<UInt8>,
        _ key: SecretBytes,
        iv: [UInt8],
        isEncrypting: Bool
    ) throws(OpenSSLError) -> [UInt8] {
        let hasOwnLength = cipher.effectiveBits != nil || cipher.hasVariableKey
        let parameters = CipherContext.Parameters(
            keyCount: hasOwnLength ? cipher.keyCount : nil,
            effectiveKeyBits: cipher.effectiveBits
        )
        let context = try key.withBytes { key throws(OpenSSLError) in
            try CipherContext(
                cipher.libcryptoName,
                key: key,
                iv: iv,
                isEncrypting: isEncrypting,
                isLegacy: cipher.isLegacy,
                parameters: parameters
            )
        }
        return try context.whole(input)
    }

    private func keyAndIV(
        _ form: PassphraseForm,
        reusing last: inout DerivedKey?
    ) throws(OpenSSLError) -> (key: SecretBytes, iv: [UInt8]) {
        switch derivation {
        case .pbes1(let digest, let salt, let iterations):
            return try PasswordDerivation.pbkdf1(form.utf8, digest, salt: salt, iterations: iterations)
        case .pbes2(let function, let iv):
            if let last, last.function == function, last.passphrase === form.utf8, last.key.count == cipher.keyCount {
                return (last.key, iv)
            }
            let key = try function.derive(form.utf8, count: cipher.keyCount)
            last = DerivedKey(function: function, passphrase: form.utf8, key: key)
            return (key, iv)
        case .pkcs12(let salt, let iterations):
            let key = try PKCS12KDF.derive(
                form.bmp,
                "SHA1",
                salt: salt,
                iterations: iterations,
                id: .key,
                count: cipher.keyCount
            )
            guard cipher.ivCount > 0 else { return (key, []) }
            let iv = try PKCS12KDF.derive(
                form.bmp,
                "SHA1",
                salt: salt,
                iterations: iterations,
                id: .iv,
                count: cipher.ivCount
            )
            return (key, iv.copied())
        }
    }
}
