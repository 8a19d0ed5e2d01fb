import ByteStreams
import CMSSyntax
import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

@Suite struct GitTests {
    @Test func `a certificate that expired since is judged as of the time of signing, with a warning`() async throws {
        let result = try await verification(signedAt: "2020-06-15T12:00:00Z")
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.text.contains("\n[GNUPG:] GOODSIG "))
        #expect(result.text.contains(" 2020-06-15 20200615T120000 20210101T000000 "))
        #expect(result.errorText.contains("warning: the certificate of expired@example.com has expired"))
        #expect(result.errorText.contains("only the signer"))
    }

    @Test func `a certificate that had expired when it signed is not good`() async throws {
        let result = try await verification(signedAt: "2021-06-15T12:00:00Z")
        #expect(result.status == 1)
        #expect(result.text.contains("\n[GNUPG:] EXPKEYSIG "))
        #expect(!result.text.contains("GOODSIG"))
    }

    /// The command's verdict on a signature by the expired certificate, with the claimed signing time `time`.
    private func verification(signedAt time: String) async throws -> CommandResult {
        let home = try await TestHome(of: [])
        let identity = try #require(
            try PKCS12(Fixtures.cert("expired/expired.p12"), passphrase: "test").identities.first
        )
        let content = Array("tree 0123\n".utf8)
        let sink = MemorySink()
        let date = try Date(time, strategy: .iso8601)
        try PEMObject.write(to: sink, label: "SIGNED MESSAGE") { sink in
            try ContentProtector(MemorySource(content))
                .sign(by: SignedDataWriter.Signer(identity), as: .detached, at: date, to: sink)
        }
        let folder = try home.folder("git", ["signature": sink.bytes])
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_HOME"] = home.path
        let runner = CommandRunner(try Tool.smime().path, environment: environment)
        // The authority's certificate is newer than the signature.
        let pinned = try runner.run(["import", "--trust", Fixtures.certs.appending(path: "expired/cert.pem").path])
        try #require(pinned.status == 0, "\(pinned.errorText)")
        return try runner.run(
            ["git", "--status-fd=1", "--verify", "\(folder)/signature", "-"],
            input: .bytes(content)
        )
    }
}
