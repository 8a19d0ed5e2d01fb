import PKIX
import Testing

/// Fingerprint prefixes as typed by users.
@Suite struct FingerprintPrefixTests {
    private static func fingerprint(_ beginning: String) throws -> Fingerprint {
        try #require(Fingerprint(beginning + String(repeating: "0", count: 64 - beginning.count)))
    }

    @Test(arguments: ["0a1b2c3d", "0A1B2C3D", "sha256:0a1b2c3d", "SHA256:0A:1B:2C:3D", "0a1b2c3d4", "0a:1b:2c:3d:4"])
    func `a prefix of eight digits or more matches the fingerprints that begin with it`(text: String) throws {
        let (wanted, twin) = try (Self.fingerprint("0a1b2c3d4e"), Self.fingerprint("0a1b2c3d4f"))
        let other = try Self.fingerprint("0a1b2c3e")
        let prefix = try #require(FingerprintPrefix(text))
        #expect(prefix.matches(among: [other]).isEmpty)
        #expect(prefix.matches(among: [other, wanted, wanted]) == [wanted])
        #expect(prefix.matches(among: [other, wanted, twin]) == [wanted, twin])
        #expect(FingerprintPrefix("\(wanted)")?.matches(among: [wanted, twin]) == [wanted])
    }

    @Test func `the range of a prefix begins with zeros and ends with the digit f`() throws {
        let range = try #require(FingerprintPrefix("0a1b2c3d4")?.range)
        #expect("\(range.lowerBound)" == "sha256:0a1b2c3d4" + String(repeating: "0", count: 55))
        #expect("\(range.upperBound)" == "sha256:0a1b2c3d4" + String(repeating: "f", count: 55))
        let whole = try Self.fingerprint("0a1b2c3d4e")
        #expect(FingerprintPrefix("\(whole)")?.range == whole...whole)
    }

    @Test(arguments: ["", "0a1b2c3", "0a1b2c3g", "sha256:", "0a1b2c3d ", String(repeating: "0", count: 65), "ca.pem"])
    func `anything else is none`(text: String) { #expect(FingerprintPrefix(text) == nil) }
}
