import CertificateDiscovery
import Testing

@Suite struct SMIMEADataTests {
    @Test func `a record carries a certificate with its usage`() throws {
        for (number, usage) in [SMIMEAData.Usage.pkixTA, .pkixEE, .daneTA, .daneEE].enumerated() {
            let record = try SMIMEAData([UInt8(number), 0, 0, 1, 2])
            #expect(
                record.usage == usage && record.certificate == [1, 2] && record.usage.isAuthority == (number % 2 == 0)
            )
        }
    }

    @Test(
        arguments: [
            ([], SMIMEAData.Defect.tooShort), ([3, 0, 0], .tooShort), ([4, 0, 0, 1], .unknown),
            ([255, 0, 0, 1], .unknown),
            ([3, 2, 0, 1], .unknown), ([3, 0, 3, 1], .unknown), ([3, 0, 1, 1], .digest), ([3, 1, 2, 1], .digest),
            ([3, 1, 0, 1], .key),
        ] as [([UInt8], SMIMEAData.Defect)]
    )
    func `what carries none says why`(_ data: [UInt8], _ defect: SMIMEAData.Defect) {
        #expect(throws: defect) { try SMIMEAData(data) }
    }

    @Test func `names are those of RFC 8162`() throws {
        // RFC 8162 §3 contains the name for hugh@example.com.
        #expect(
            try SMIMEAName.name(of: "hugh", at: "example.com")
                == "c93f1e400f26708f98cb19d936620da35eec8f72e57f9eec01c1afd6._smimecert.example.com"
        )
        #expect(
            try SMIMEAName.name(of: "\"h\\ugh\"", at: "example.com") == SMIMEAName.name(of: "hugh", at: "example.com")
        )
        #expect(SMIMEAName.wildcard("example.com") == "*._smimecert.example.com")
    }

    @Test func `a resolver is an address, perhaps with a port`() {
        for text in ["127.0.0.1", "127.0.0.1@5353", "::1", "2001:db8::53@853"] {
            #expect(SecureResolver.isAddress(text))
        }
        for text in ["", "localhost", "127.0.0.1@", "127.0.0.1@0", "127.0.0.1@70000", "127.0.0.1 @5", "@53", "1@2@3"] {
            #expect(!SecureResolver.isAddress(text))
        }
    }
}
