import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// Certificates of other sources for an address with a user's decisions.
@Suite struct FoundReplacementTests {
    private let alice: AddressScope

    init() throws { alice = try AddressScope("alice@example.com") }

    private func store(
        in home: TemporaryHome,
        _ certificate: String,
        of address: AddressScope? = nil,
        isPinned: Bool = false
    ) async throws -> Store {
        let store = try await home.open()
        var batch = try ImportBatch.authorities()
        batch.recipients = [
            .init(
                certificate: try Certificate(fixture: "\(certificate)/cert.pem"),
                addresses: [address ?? alice],
                isPinned: isPinned
            )
        ]
        _ = try await store.add(batch, at: .judged)
        return store
    }

    private func answer(_ store: Store, _ found: String) async throws -> RecipientLookup.Answer {
        try await answer(store, file: "\(found)/cert.pem", about: alice)
    }

    private func answer(
        _ store: Store,
        file: String,
        about address: AddressScope
    ) async throws -> RecipientLookup.Answer {
        let source = OneCertificate(certificate: try Certificate(fixture: file), address: address)
        let lookup = RecipientLookup(store: store, sources: [source], systemAnchors: false)
        return try await lookup.choices(for: [address], at: .judged, asking: .everything)
    }

    @Test func `a pin that has expired is not replaced by what a source has`() async throws {
        let home = try TemporaryHome()
        let answer = try await answer(try await store(in: home, "alice-old", isPinned: true), "alice-renewed")
        #expect(answer.choices.first?.candidates.map(\.reason) == [.expired, .held])
        let found = try Certificate(fixture: "alice-renewed/cert.pem").fingerprint
        #expect(
            answer.warnings == [
                "alice@example.com: the certificate \(found) (ldap) is held until it is trusted, because another key is "
                    + "pinned, or its key was held before"
            ]
        )
    }

    @Test func `a pinned certificate that cannot be encrypted to holds no certificate for encryption`() async throws {
        let home = try TemporaryHome()
        let split = try AddressScope("split@example.com")
        let store = try await store(in: home, "split", of: split, isPinned: true)
        let answer = try await answer(store, file: "split/encrypt-cert.pem", about: split)
        #expect(answer.choices.first?.selected?.certificate == (try Certificate(fixture: "split/encrypt-cert.pem")))
        #expect(answer.warnings.isEmpty)
    }

    @Test func `a certificate that was only imported is replaced when it has expired`() async throws {
        let home = try TemporaryHome()
        let answer = try await answer(try await store(in: home, "alice-old"), "alice-renewed")
        #expect(answer.choices.first?.candidates.map(\.reason) == [.expired, .selected])
        #expect(answer.warnings.isEmpty)
    }

    @Test func `a key that is held is held in the certificate that a source has for it`() async throws {
        let home = try TemporaryHome()
        let store = try await store(in: home, "alice-renewed")
        let sighting = SignerSighting(
            address: try EmailAddress("alice@example.com"),
            certificate: try Certificate(fixture: "alice/cert.pem")
        )
        let report = try await store.recipients.learn([sighting], at: .judged, onChange: .hold)
        #expect(report.entries.map(\.isHeld) == [true])
        let choice = try #require(try await answer(store, "alice-reissued").choices.first)
        let reasons = Dictionary(
            uniqueKeysWithValues: choice.candidates.map { ($0.recipient.certificate.fingerprint, $0.reason) }
        )
        let expected: [(String, RecipientSelection.Reason)] = [
            ("alice-renewed", .selected), ("alice", .held), ("alice-reissued", .held),
        ]
        for (name, reason) in expected {
            let fingerprint = try Certificate(fixture: "\(name)/cert.pem").fingerprint
            #expect(reasons[fingerprint] == reason, "\(name)")
        }
    }

    @Test func `a certificate for a pinned key is used wherever it is found`() async throws {
        let home = try TemporaryHome()
        let answer = try await answer(try await store(in: home, "alice", isPinned: true), "alice-reissued")
        #expect(answer.choices.first?.candidates.map(\.reason) == [.selected, .laterSource])
    }
}

/// A source with one certificate for one address.
private struct OneCertificate: CertificateSource {
    let kind = KnownRecipient.Source.ldap
    let timeLimit = Duration.seconds(60)
    let certificate: Certificate
    let address: AddressScope

    func search(for addresses: [AddressScope]) throws(SourceOutage) -> SourceAnswer {
        var answer = SourceAnswer()
        if addresses.contains(address) { answer.add([certificate], for: address, from: kind, at: "here") }
        return answer
    }

    func state() throws(SourceOutage) -> String { "fixed" }
}
