import ByteStreams
import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

/// An OCSP response included in a message is used like an included revocation list (RFC 5940).
@Suite struct StapledResponseTests {
    @Test(arguments: [("V", VerificationReport.Status.valid), ("R", .revoked)])
    func `an OCSP response in the message is used`(status: String, expected: VerificationReport.Status) async throws {
        var factory = try CertificateFactory()
        try factory.issue("ca", subject: "/CN=CA", extensions: CertificateFactory.authority)
        let person = CertificateFactory.person("a@example.com")
        try factory.issue("leaf", subject: "/CN=L", by: "ca", extensions: person)
        try factory.sh(
            """
            printf '\(status)\\t491231235959Z\\t\(status == "R" ? "250101000000Z" : "")\\t%s\\tunknown\\t/CN=x\\n' \
            "$(openssl x509 -in leaf.pem -noout -serial | cut -d= -f2)" >index
            openssl ocsp -issuer ca.pem -cert leaf.pem -no_nonce -reqout req >/dev/null 2>&1
            openssl ocsp -index index -CA ca.pem -rsigner ca.pem -rkey ca.key -reqin req -respout resp -ndays 7 >/dev/null 2>&1
            printf 'Content-Type: text/plain\\r\\n\\r\\nhello\\r\\n' >content
            openssl cms -sign -binary -nodetach -in content -signer leaf.pem -inkey leaf.key -outform DER -out signed
            """
        )
        let stapled = try Self.staple(factory.bytes("resp"), to: factory.bytes("signed"))
        var keyring = try Keyring(people: [])
        keyring.trust = TrustStore(anchors: try [factory.certificate("ca")])
        let leaf = try factory.certificate("leaf")
        let time = leaf.notBefore.addingTimeInterval(600)
        let opener = MessageOpener(keyring, at: time, options: ValidationOptions(revocation: .hard))
        let report = try await opener.verify(cms: MemorySource(stapled).stream(), detached: nil).report
        #expect(report.status == expected)
        let plain = try await opener.verify(cms: MemorySource(factory.bytes("signed")).stream(), detached: nil).report
        #expect(plain.signers.first?.revocation.problems.map(\.code) == ["revocation-unknown"])
    }

    /// The SignedData `object` with `response` added to its revocation information, before the SignerInfos.
    private static func staple(_ response: [UInt8], to object: [UInt8]) throws -> [UInt8] {
        let format = DER.element(0x06, [0x2B, 6, 1, 5, 5, 7, 16, 2])
        let information = DER.element(0xA1, DER.element(0xA1, format, response))
        let outer = try DER.children(of: object)
        let content = try #require(outer.last)
        let data = try #require(try DER.children(of: content).first)
        let fields = try DER.children(of: data)
        let body = fields.dropLast().flatMap { $0 } + information + (fields.last ?? [])
        return DER.sequence(outer[0], DER.element(0xA0, DER.element(0x30, Array(body))))
    }
}
