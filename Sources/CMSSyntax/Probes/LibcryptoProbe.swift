import ByteStreams
import LibCrypto
import PKIX

/// A test of the installed libcrypto, which takes milliseconds: whether it supports the required algorithms, or rejects certain
/// invalid input.
///
/// A version number is not enough: distributions fix faults and remove algorithms without changing it.
package struct LibcryptoProbe: Sendable {
    /// The result of a test.
    package enum Outcome: Sendable, Equatable {
        /// libcrypto behaves as required; the text describes the behaviour.
        case passed(String)
        /// libcrypto behaves differently; the text describes the behaviour.
        case failed(String)
        /// The test could not be run; the text gives the reason.
        case untried(String)
    }

    /// The name of the test, in kebab-case.
    package let code: String
    private let body: @Sendable () throws -> Outcome

    /// - Parameter body: runs the test. If it throws an error, the outcome is `untried`.
    package init(_ code: String, _ body: @escaping @Sendable () throws -> Outcome) {
        self.code = code
        self.body = body
    }

    /// A probe for an input that libcrypto must reject.
    ///
    /// - Parameter body: returns whether the input was rejected.
    fileprivate init(_ code: String, refuses what: String, _ body: @escaping @Sendable () throws -> Bool) {
        self.init(code) { try body() ? .passed("\(what) is refused") : .failed("\(what) is not refused") }
    }

    /// Runs the test.
    package func run() -> Outcome {
        Libcrypto.start()
        defer { Libcrypto.clearErrors() }
        do { return try body() } catch { return .untried("\(error)") }
    }

    /// All probes.
    package static let all = [algorithms] + symmetric + keys + chains

    private static let symmetric = [
        LibcryptoProbe("gcm-tag", refuses: "content with a wrong tag") {
            try ["AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305"].allSatisfy(refusesWrongTag)
        },
        LibcryptoProbe("key-wrap", refuses: "a wrapped key that was changed") {
            let (key, wrapping) = try (SecretBytes.random(count: 32), SecretBytes.random(count: 32))
            let wrap = try KeyWrap(keyCount: 32)
            var wrapped = try wrap.wrap(key, under: wrapping)
            let opened = try wrap.unwrap(wrapped, under: wrapping).copied()
            guard opened == key.copied() else { return false }
            wrapped[9] ^= 1
            return isRefused { _ = try wrap.unwrap(wrapped, under: wrapping) }
        },
        LibcryptoProbe("pkcs12-mac", refuses: "a PKCS#12 file with a wrong MAC") {
            let algorithm = PKCS12MAC.Algorithm.hmac(
                digest: "SHA2-256",
                byteCount: 32,
                salt: [1, 2, 3, 4, 5, 6, 7, 8],
                iterations: 2
            )
            let form = PassphraseForm(writing: Passphrase("probe".utf8))
            let mac = PKCS12MAC(algorithm, value: try PKCS12MAC.compute(algorithm, over: [1], with: form))
            return try mac.isValid(over: [1], with: form) && !mac.isValid(over: [2], with: form)
        },
    ]

    private static func refusesWrongTag(_ name: String) throws -> Bool {
        let key = [UInt8](repeating: 7, count: name.hasPrefix("AES-128") ? 16 : 32)
        let iv = [UInt8](repeating: 9, count: 12)
        func run(isEncrypting: Bool, _ input: [UInt8], tag: [UInt8]? = nil) throws -> (output: [UInt8], tag: [UInt8]) {
            let context = try CipherContext(name, key: key.octets, iv: iv, isEncrypting: isEncrypting)
            if let tag { try context.expectTag(tag) }
            let output = try context.whole(input.octets)
            return (output, tag == nil ? try context.tag(count: 16) : [])
        }
        let text = [UInt8](repeating: 3, count: 40)
        let sealed = try run(isEncrypting: true, text)
        guard try run(isEncrypting: false, sealed.output, tag: sealed.tag).output == text else { return false }
        var wrong = sealed.tag
        wrong[15] ^= 1
        return isRefused { _ = try run(isEncrypting: false, sealed.output, tag: wrong) }
    }

    /// Whether `body` throws.
    static func isRefused(_ body: () throws -> Void) -> Bool {
        do { try body() } catch { return true }
        return false
    }
}

extension LibcryptoProbe {
    /// The algorithms of S/MIME 4.0, by their names in libcrypto.
    private static let algorithms = LibcryptoProbe("algorithms") {
        func missing(_ names: [String], _ isThere: (String) -> Bool) -> [String] { names.filter { !isThere($0) } }
        let ciphers = missing([
            "AES-128-CBC", "AES-128-GCM", "AES-256-CBC", "AES-256-CCM", "AES-256-GCM", "AES-256-WRAP",
            "ChaCha20-Poly1305", "DES-EDE3-CBC",
        ]) { (try? Libcrypto.offersCipher($0, isLegacy: false)) == true }
        let digests = missing(["SHA1", "SHA2-256", "SHA2-384", "SHA2-512"], Libcrypto.offersDigest)
        let derivations = missing(["HKDF", "PBKDF2", "PKCS12KDF", "SCRYPT", "X963KDF"], Libcrypto.offersDerivation)
        let kinds = missing(["EC", "ED25519", "RSA", "X25519"], Libcrypto.offersKeys)
        let all = ciphers + digests + derivations + kinds
        return all.isEmpty
            ? .passed("all that S/MIME needs is there") : .failed("missing: \(all.joined(separator: ", "))")
    }
}
