import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

/// Pins for signatures without a sender, as on files and commits. The reader sees the names in the certificate.
@Suite struct PinnedSignerTests {
    @Test func `a pinned certificate is trusted for what it signed`() async throws {
        let people = try People()
        #expect(try await people.verdict(of: "first", scopes: ["first@example.com"]) == .valid)
        #expect(try await people.verdict(of: "first", scopes: ["@example.com"]) == .valid)
        #expect(try await people.verdict(of: "first", scopes: nil) == .valid)
    }

    @Test(arguments: ["self", "other"])
    func `another certificate of its key is not trusted, whatever it names`(_ name: String) async throws {
        let people = try People()
        for scopes in [["first@example.com"], ["@example.com"], nil] as [Set<String>?] {
            #expect(try await people.verdict(of: name, scopes: scopes) == .untrusted)
        }
    }

    @Test func `a certificate that was pinned for one of its addresses is not trusted for all`() async throws {
        let people = try People()
        #expect(try await people.verdict(of: "two", pinned: "two", scopes: ["first@example.com"]) == .untrusted)
        let both: Set = ["first@example.com", "boss@example.com"]
        #expect(try await people.verdict(of: "two", pinned: "two", scopes: both) == .valid)
    }

    @Test func `a key that is pinned and distrusted stays distrusted`() async throws {
        let people = try People()
        let verdict = try await people.verdict(
            of: "first",
            scopes: ["first@example.com"],
            distrusted: ["x@example.com"]
        )
        #expect(verdict == .untrusted)
    }

    /// Certificates with the same key: the pinned one, and others.
    private struct People: ~Copyable {
        private let factory: CertificateFactory

        init() throws {
            var factory = try CertificateFactory()
            try factory.issue("root", subject: "/CN=Own root", extensions: CertificateFactory.authority)
            try factory.issue("first", subject: "/CN=First", extensions: CertificateFactory.person("first@example.com"))
            for name in ["self", "other", "two"] { try factory.sh("cp first.key \(name).key") }
            try factory.issue("self", subject: "/CN=Boss", extensions: CertificateFactory.person("boss@example.com"))
            try factory.issue(
                "other",
                subject: "/CN=First",
                by: "root",
                extensions: CertificateFactory.person("first@example.com")
            )
            try factory.issue(
                "two",
                subject: "/CN=First",
                extensions: CertificateFactory.person("first@example.com,email:boss@example.com")
            )
            self.factory = factory
        }

        /// The verdict on a bare object signed by `name`.
        func verdict(
            of name: String,
            pinned: String = "first",
            scopes: Set<String>?,
            distrusted: Set<String> = []
        ) async throws -> VerificationReport.Status {
            let original = try factory.certificate(pinned)
            var keyring = Keyring([], trusting: [])
            keyring.trust = TrustStore(anchors: []).pinning(original)
            if let scopes {
                let key = original.publicKeyDigest
                keyring.trust.scopes = [key: .init(pinned: scopes, distrusted: distrusted)]
                if !distrusted.isEmpty { keyring.trust.distrusted = [key] }
            }
            var signer = SignedDataWriter.Signer(
                Identity(unchecked: try factory.certificate(name), try factory.key("first"))
            )
            signer.identity.chain = [try factory.certificate("root")]
            let sink = MemorySink()
            try ContentProtector(MemorySource(Array("tree 0123\n".utf8))).sign(
                by: signer,
                as: .opaque,
                at: .now,
                to: sink
            )
            return try await MessageOpener(keyring, at: .now)
                .verify(cms: MemorySource(sink.bytes).stream(), detached: nil).report.status
        }
    }
}
