import ByteStreams
import LibCrypto

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
