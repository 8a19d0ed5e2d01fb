import ByteStreams
import LibCrypto
import PKIX

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A test of the installed libcrypto, which takes milliseconds: whether it supports the required algorithms, or rejects certain
/// invalid input.
///
/// A version number is not enough: distributions fix faults and remove algorithms without changing it.
package struct LibcryptoProbe: Sendable {
    /// The result of a test.
    package enum Outcome: Sendable, Equatable {
        /// libcrypto behaves as required; the text describes the behavior.
        case passed(String)
        /// libcrypto behaves differently; the text describes the behavior.
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
            ? .passed("all algorithms that S/MIME needs are there") : .failed("missing: \(all.joined(separator: ", "))")
    }
}

extension LibcryptoProbe {
    /// Tests whether manipulated ciphertexts and public keys are rejected.
    static let keys = [
        LibcryptoProbe("oaep-padding") {
            let key = try Handle(generating: .rsa(bits: 1024))
            var value = try encrypt([1, 2, 3], to: key, .oaep(digest: .sha256, mgf: .sha256, label: []))
            value[value.count - 1] ^= 1
            var output = [UInt8](repeating: 0, count: 256)
            let opened = key.decrypt(value, padding: .oaep(digest: .sha256, mgf: .sha256, label: []), into: &output)
            return opened.result == 1
                ? .failed("an OAEP block that was changed is opened")
                : .passed("an OAEP block that was changed is refused")
        },
        // libcrypto may behave either way: if it reports the wrong padding, smime uses a substitute key instead.
        LibcryptoProbe("rsa-implicit-rejection") {
            let key = try Handle(generating: .rsa(bits: 1024))
            // The ciphertext is the number 3. Its decryption has no valid PKCS#1 padding.
            let value = [UInt8](repeating: 0, count: 127) + [3]
            var output = [UInt8](repeating: 0, count: 256)
            let opened = key.decrypt(value, padding: .pkcs1, into: &output)
            return .passed(
                opened.result == 1
                    ? "wrong PKCS#1 padding gives a random value"
                    : "wrong PKCS#1 padding is refused here; smime uses a substitute key instead"
            )
        },
        LibcryptoProbe("x25519-zero") {
            let key = try Handle(generating: .x25519)
            let refused = isRefused { _ = try key.agree(withEncodedPoint: [UInt8](repeating: 0, count: 32)) }
            return refused
                ? .passed("an X25519 secret of zeros is refused") : .failed("an X25519 secret of zeros is not refused")
        },
        LibcryptoProbe("ec-off-curve") {
            let key = try Handle(generating: .p256)
            let refused = isRefused {
                _ = try key.agree(withEncodedPoint: [4] + [UInt8](repeating: 3, count: 64))
            }
            return refused
                ? .passed("a point off the curve is refused") : .failed("a point off the curve is not refused")
        },
    ]

    private static func encrypt(_ value: [UInt8], to key: Handle<EVP_PKEY>, _ padding: RSAPadding) throws -> [UInt8] {
        try key.encrypt(value.octets, padding: padding)
    }
}

extension LibcryptoProbe {
    /// Tests how libcrypto verifies certificate chains. One test is for CVE-2023-0465: OpenSSL before 3.0.9 and 3.1.1
    /// accepted invalid policies in a leaf certificate.
    static let chains = [
        chain("sound-chain", finds: nil, passed: "a valid chain is accepted", failed: "a valid chain is refused"),
        chain(
            "name-constraints",
            authority: [
                FreshCertificate.Extension(
                    "2.5.29.30",
                    [0x30, 0x11, 0xA0, 0x0F, 0x30, 0x0D, 0x81, 0x0B] + Array("example.org".utf8)
                )
            ],
            leaf: [FreshCertificate.Extension("2.5.29.17", [0x30, 0x0D, 0x81, 0x0B] + Array("a@evil.test".utf8))],
            finds: .notPermitted,
            passed: "an address that the name constraints forbid is refused",
            failed: "an address that the name constraints forbid is not refused"
        ),
        chain(
            "critical-extension",
            leaf: [FreshCertificate.Extension("1.2.3.4", [0x05, 0x00], isCritical: true)],
            finds: .unknownCriticalExtension,
            passed: "an unknown critical extension is refused",
            failed: "an unknown critical extension is not refused"
        ),
        chain(
            "leaf-as-authority",
            isAuthority: false,
            finds: .invalidCA,
            passed: "an issuer that is not an authority is refused",
            failed: "an issuer that is not an authority is not refused"
        ),
        chain(
            "certificate-policies",
            leaf: [
                FreshCertificate.Extension(
                    "2.5.29.32",
                    [0x30, 0x0E, 0x30, 0x05, 6, 3, 0x2A, 3, 4, 0x30, 0x05, 6, 3, 0x2A, 3, 4]
                )
            ],
            finds: .invalidPolicyExtension,
            passed: "wrong certificate policies are refused",
            failed: "wrong certificate policies are not refused (CVE-2023-0465)"
        ),
    ]

    /// - Parameter finds: the error that verification must report; nil for none.
    private static func chain(
        _ code: String,
        isAuthority: Bool = true,
        authority: [FreshCertificate.Extension] = [],
        leaf: [FreshCertificate.Extension] = [],
        finds expected: VerificationCode?,
        passed: String,
        failed: String
    ) -> LibcryptoProbe {
        LibcryptoProbe(code) {
            let constraints: [UInt8] = isAuthority ? [0x30, 3, 1, 1, 0xFF] : [0x30, 0]
            let basic = FreshCertificate.Extension("2.5.29.19", constraints, isCritical: true)
            let chain = try ProbeChain(authority: [basic] + authority, leaf: leaf)
            let codes =
                try PathVerification
                .verify([chain.leaf, chain.authority], at: .now).map(\.code)
            let isRight = expected.map({ codes.contains($0) }) ?? codes.isEmpty
            return isRight ? .passed(passed) : .failed(failed)
        }
    }
}

/// A certificate authority and a certificate that it issued, created for one probe.
struct ProbeChain {
    let leaf, authority: Certificate

    init(authority: [FreshCertificate.Extension], leaf: [FreshCertificate.Extension]) throws {
        let key = try Handle<EVP_PKEY>(generating: .p256)
        func made(_ name: String, _ serial: Int, extensions: [FreshCertificate.Extension]) throws -> Certificate {
            let fresh = FreshCertificate(
                subject: name,
                issuer: "Probe CA",
                serialNumber: serial,
                extensions: extensions
            )
            return try Certificate(der: fresh.signed(by: key))
        }
        self.authority = try made("Probe CA", 1, extensions: authority)
        self.leaf = try made("Probe", 2, extensions: leaf)
    }
}
