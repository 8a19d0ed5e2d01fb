import ByteStreams
import LibCrypto
import PKIX
import TestSupport
import Testing

@Suite struct CryptoTimeTests {
    @Test func `signing, verifying, encrypting, decrypting and hashing are counted`() async {
        // The times of a process are counted together, so the operations run in one of their own.
        await #expect(processExitsWith: .success) {
            let key = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil)
            let value = [UInt8](repeating: 7, count: 32)
            let before = CryptoTime.spent
            let signature = try key.handle.sign(value, digest: .sha256, padding: .pkcs1)
            #expect(key.handle.verify(signature, of: value, digest: .sha256, padding: .pkcs1))
            var ciphertext = [UInt8](repeating: 0, count: 1 << 16)
            for isEncrypting in [true, false] {
                let cipher = try CipherContext(
                    "AES-256-CTR",
                    key: value.octets,
                    iv: [UInt8](repeating: 1, count: 16),
                    isEncrypting: isEncrypting
                )
                let plain = [UInt8](repeating: 2, count: 1 << 15)
                var output = ciphertext.mutableOctets
                let count = try cipher.update(plain.octets, into: &output)
                #expect(count == plain.count)
            }
            _ = try DigestAlgorithm.sha256.digest(ciphertext)
            let spent = CryptoTime.spent - before
            for operation in CryptoTime.Operation.allCases { #expect(spent[operation] > 0, "\(operation)") }
        }
    }

    @Test func `times add up, and no difference is negative`() {
        var (one, two) = (CryptoTime(), CryptoTime())
        (one[.sign], one[.digest], two[.sign]) = (5, 1, 7)
        let sum = one + two
        #expect(sum[.sign] == 12 && sum[.digest] == 1 && sum[.verify] == 0)
        #expect(sum - two == one)
        #expect((one - two)[.sign] == 0)
    }
}
