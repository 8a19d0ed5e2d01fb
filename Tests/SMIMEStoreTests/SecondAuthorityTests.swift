import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// A second trusted authority issues certificates for a known address.
@Suite struct SecondAuthorityTests {
    /// Two anchors, `first` and `second`, and certificates for bob@example.com: `bob` and `encryption` by the first one, `again`
    /// (for the key of `bob`) and `mallory` (for another key) by the second one.
    private func makeScene() throws -> CertificateFactory {
        var factory = try CertificateFactory()
        for name in ["first", "second"] {
            try factory.issue(name, subject: "/CN=\(name)", extensions: CertificateFactory.authority)
        }
        let person = CertificateFactory.person("bob@example.com")
        try factory.issue("bob", subject: "/CN=Bob", by: "first", extensions: person)
        try factory.sh("cp bob.key again.key")
        try factory.issue("again", subject: "/CN=Bob", by: "second", extensions: person)
        try factory.issue("mallory", subject: "/CN=Bob", by: "second", extensions: person)
        let usage = person.filter { !$0.hasPrefix("keyUsage") } + ["keyUsage=critical,keyAgreement"]
        try factory.issue("encryption", subject: "/CN=Bob", by: "first", extensions: usage)
        return factory
    }

    private func store(_ home: TemporaryHome, _ factory: borrowing CertificateFactory) async throws -> Store {
        let store = try await home.open()
        var batch = ImportBatch()
        batch.anchors = [try factory.certificate("first"), try factory.certificate("second")]
        _ = try await store.add(batch, at: .now)
        return store
    }

    private func learn(
        _ name: String,
        _ store: Store,
        _ factory: borrowing CertificateFactory,
        under policy: ChangePolicy = .sameRoot
    ) async throws -> [Bool] {
        let sighting = SignerSighting(
            address: try EmailAddress("bob@example.com"),
            certificate: try factory.certificate(name),
            isAnchored: true
        )
        return try await store.recipients.learn([sighting], at: .now, onChange: policy).entries.map(\.isHeld)
    }

    @Test func `a certificate for a known key does not make its authority one for another key`() async throws {
        let factory = try makeScene()
        let home = try TemporaryHome()
        let store = try await store(home, factory)
        #expect(try await learn("bob", store, factory) == [false])
        #expect(try await learn("again", store, factory) == [false])
        #expect(try await learn("mallory", store, factory) == [true])
    }

    @Test(arguments: [ChangePolicy.sameRoot, .hold])
    func `an imported certificate for encryption only holds up that of another authority`(policy: ChangePolicy)
        async throws
    {
        let factory = try makeScene()
        let home = try TemporaryHome()
        let store = try await store(home, factory)
        var batch = ImportBatch()
        let address = try AddressScope("bob@example.com")
        batch.recipients = [.init(certificate: try factory.certificate("encryption"), addresses: [address])]
        _ = try await store.add(batch, at: .now)
        #expect(try await learn("mallory", store, factory, under: policy) == [true])
    }
}
