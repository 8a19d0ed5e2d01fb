import ByteStreams
import CMSSyntax
import PKIX
import TestSupport
import Testing

/// Parameters of RSA key transport.
@Suite struct ParameterTests {
    private static let digest = TLV.explicit(0, OID.digest("SHA256"))
    private static let mask = TLV.explicit(1, TLV.sequence(TLV.oid("1.2.840.113549.1.1.8"), OID.digest("SHA256")))
    private static let label = TLV.explicit(2, TLV.sequence(TLV.oid("1.2.840.113549.1.1.9"), TLV.octets([])))

    /// What is known of the parameters that consist of `fields`; nil if they are refused.
    private func detail(_ fields: [[UInt8]]) throws -> String? {
        var forge = EnvelopedForge(gcm: MailForge.text, to: try Person.alice.get())
        let parameters = TLV.sequence(fields.flatMap { $0 })
        forge.recipients[0].algorithm = TLV.sequence(TLV.oid(OID.rsaOAEP), parameters)
        let data = try EnvelopedData(reading: MemorySource(forge.encoded()).stream())
        return try #require(data.recipients.first).algorithmDetail
    }

    @Test func `each parameter of OAEP may occur once, in order`() throws {
        #expect(try detail([]) == "sha1, mgf1 with sha1")
        #expect(try detail([Self.mask]) == "sha1, mgf1 with sha256")
        #expect(try detail([Self.digest, Self.mask, Self.label]) == "sha256, mgf1 with sha256")
    }

    @Test func `a recipient with malformed fields is still a recipient`() throws {
        let alice = try Person.alice.get()
        var forge = EnvelopedForge(gcm: MailForge.text, to: alice)
        let fields = TLV.sequence(TLV.integer(0), alice.issuerAndSerial, TLV.octets([1]))
        forge.rawRecipients = [TLV.element(0xA4, TLV.oid("1.2.840.113549.1.9.16.13.3"), fields)]
        let data = try EnvelopedData(reading: MemorySource(forge.encoded()).stream())
        let recipient = try #require(data.recipients.first { $0.kind == .keyEncapsulation })
        #expect(recipient.identifier?.matches(try Certificate(der: alice.certificate)) == true)
        let key = try TestIdentity("alice").key
        #expect(throws: CMSError.unsupported("key-encapsulation with malformed parameters")) {
            try data.key(for: recipient, with: key)
        }
    }

    @Test func `OAEP parameters that are repeated, unordered or unknown are refused`() throws {
        #expect(try detail([Self.digest, Self.digest, Self.mask]) == nil)
        #expect(try detail([Self.mask, Self.digest]) == nil)
        #expect(try detail([Self.digest, Self.mask, TLV.explicit(3, TLV.integer(1))]) == nil)
        #expect(try detail([TLV.explicit(0, OID.digest("SHA256"), OID.digest("SHA1")), Self.mask]) == nil)
        #expect(try detail([TLV.explicit(0), Self.mask]) == nil)
    }
}
