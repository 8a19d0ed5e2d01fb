import ByteStreams
import LibCrypto
import Testing

@Suite struct ErrorQueueTests {
    /// What libcrypto's queue of this thread still holds.
    private var rest: [OpenSSLError.Entry] { OpenSSLError("rest").stack }

    @Test func `a failed call throws all that libcrypto said, and leaves nothing behind`() {
        Libcrypto.clearErrors()
        let key = [UInt8](repeating: 1, count: 16)
        let error = #expect(throws: OpenSSLError.self) {
            _ = try CipherContext("no-such-cipher", key: key.octets, iv: [], isEncrypting: true)
        }
        #expect(error?.operation == "EVP_CIPHER_fetch")
        #expect(error?.stack.isEmpty == false)
        #expect(error?.description.hasPrefix("EVP_CIPHER_fetch: ") == true)
        #expect(rest.isEmpty)
    }

    @Test func `a look-up that finds nothing leaves no error behind`() throws {
        Libcrypto.clearErrors()
        #expect(try !Libcrypto.offersCipher("no-such-cipher", isLegacy: false))
        #expect(!Libcrypto.offersDigest("no-such-digest"))
        #expect(!Libcrypto.offersDerivation("no-such-derivation"))
        #expect(Libcrypto.curveBits(oid: "1.2.3.4") == nil)
        #expect(rest.isEmpty)
    }

    @Test func `only a positive result counts as success`() throws {
        try check(1, "done")
        for result: CInt in [0, -1] { #expect(throws: OpenSSLError("done")) { try check(result, "done") } }
    }

    @Test func `errors are counted`() {
        let before = OpenSSLError.occurrences
        _ = OpenSSLError("counted")
        #expect(OpenSSLError.occurrences > before)
    }
}
