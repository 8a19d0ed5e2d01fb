import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// What the role of a gateway learns although it cannot write decisions, nor correct rows.
extension StoreRoleTests {
    /// A statement that inserts a row with wrong columns for `certificate`.
    ///
    /// - Parameter der: another certificate for the row; nil for `certificate` itself.
    func wrongRow(for certificate: Certificate, der: [UInt8]? = nil) -> String {
        let hexadecimal = (der ?? certificate.der).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0\(digits)" : digits
        }
        return """
            INSERT INTO certificate (fingerprint, der, subject_key, issuer, serial, not_before, not_after, usage, public_key,
                subject_name, issuer_name, addresses, issuer_key, name_digest)
            VALUES ('\\x\(certificate.fingerprint.hexadecimal)', '\\x\(hexadecimal.joined())', '', '', '', 0, 0, 0,
                '', '', '', 'eve@example.com', '', '')
            """
    }

    @Test func `a gateway learns another certificate for a distrusted key, and nothing is encrypted to it`()
        async throws
    {
        let address = "bob@example.com"
        let scope = try AddressScope(address)
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        try factory.issue("first", subject: "/CN=Bob", by: "root", extensions: CertificateFactory.person(address))
        try factory.sh("cp first.key second.key")
        try factory.issue("second", subject: "/CN=Bob", by: "root", extensions: CertificateFactory.person(address))
        let (first, second) = (try factory.certificate("first"), try factory.certificate("second"))
        let owner = try await home.open()
        var batch = ImportBatch()
        batch.anchors = [try factory.certificate("root")]
        batch.recipients = [.init(certificate: first, addresses: [scope])]
        _ = try await owner.add(batch, at: .now)
        _ = try await owner.recipients.setTrust(.distrusted, of: scope)
        let gateway = try await store(as: .gateway)
        let sighting = SignerSighting(address: try EmailAddress(address), certificate: second)
        let entries = try await gateway.recipients.learn([sighting], at: .now, onChange: .use).entries
        #expect(entries.map(\.isHeld) == [true])
        #expect(try await home.number("SELECT count(*) FROM smime.recipient WHERE trust = 'held'") == 1)

        func reasons(_ store: Store) async throws -> [RecipientSelection.Reason] {
            let lookup = RecipientLookup(store: store, systemAnchors: false)
            return try await lookup.choices(for: [scope], at: .now).choices.flatMap { $0.candidates.map(\.reason) }
        }
        for store in [owner, gateway] { #expect(try await reasons(store) == [.distrusted, .distrusted]) }
        // Without the decision the certificate is still not used.
        _ = try await owner.recipients.remove(scope, fingerprint: first.fingerprint)
        for store in [owner, gateway] { #expect(try await reasons(store) == [.held]) }
        try dropRoles()
    }

    @Test func `a wrong row of one gateway does not keep another from learning the certificate`() async throws {
        let owner = try await home.open()
        let gateway = try await store(as: .gateway)
        let certificate = try Certificate(fixture: "p384/cert.pem")
        let authority = try Certificate(fixture: "ca/intermediate.pem")
        for other in [certificate, authority] { #expect(!refused(wrongRow(for: other))) }
        let wrong = "SELECT count(*) FROM smime.certificate WHERE addresses = 'eve@example.com'"
        #expect(try await home.number(wrong) == 2)
        let sighting = SignerSighting(
            address: try EmailAddress("p384@example.com"),
            certificate: certificate,
            authorities: [authority]
        )
        let report = try await gateway.recipients.learn([sighting], at: .judged)
        #expect(report.entries.map(\.certificate) == [certificate])
        let known = try await gateway.recipients.certificates(for: AddressScope("p384@example.com"))
        #expect(known.map(\.certificate) == [certificate])
        #expect(try await home.number("SELECT count(*) FROM smime.intermediate") == 1)
        #expect(try await home.number(wrong) == 2)
        // The owner corrects what it adds.
        var batch = ImportBatch()
        batch.intermediates = [authority]
        batch.recipients = [.init(certificate: certificate, addresses: [try AddressScope("p384@example.com")])]
        _ = try await owner.add(batch, at: .judged)
        #expect(try await home.number(wrong) == 0)
        try dropRoles()
    }
}
