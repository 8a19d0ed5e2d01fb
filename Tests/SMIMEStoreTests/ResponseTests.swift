import Foundation
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// OCSP responses are stored while they are valid, one for each certificate.
@Suite struct ResponseTests {
    private static func subject(
        _ file: String,
        issuer: String = "ca/intermediate.pem"
    ) throws -> OCSPResponse.Subject {
        try OCSPResponse.Subject(Certificate(fixture: file), issuedBy: Certificate(fixture: issuer))
    }

    private func keep(
        _ response: [UInt8],
        about name: String,
        from since: TimeInterval,
        to until: TimeInterval,
        in store: Store,
        at time: TimeInterval = 0
    ) async throws {
        var batch = ImportBatch()
        batch.responses = [
            .init(
                certificate: try Self.subject("\(name)/cert.pem"),
                response: OCSPResponse(der: response),
                lifetime: .init(
                    since: Date.judged.addingTimeInterval(since),
                    until: Date.judged.addingTimeInterval(until)
                )
            )
        ]
        #expect(!batch.isEmpty)
        _ = try await store.add(batch, at: Date.judged.addingTimeInterval(time))
    }

    private func kept(about names: String..., in store: Store) async throws -> [[UInt8]] {
        let certificates = try names.map { try Certificate(fixture: "\($0)/cert.pem") }
        let trust = try await store.anchors.trust(judging: certificates, systemAnchors: false)
        let issuer = try Certificate(fixture: "ca/intermediate.pem")
        return try certificates.compactMap { trust.responses[try .init($0, issuedBy: issuer)]?.der }
    }

    @Test func `a stored response is found for its certificate and for authorities above one`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        try await keep([1], about: "alice", from: 0, to: 60, in: store)
        #expect(try await kept(about: "alice", "bob", in: store) == [[1]])
        // A keyring judges the signers of any mail.
        let whole = try await store.anchors.wholeTrust(systemAnchors: false)
        #expect(try whole.responses[Self.subject("alice/cert.pem")]?.der == [1])
        let subject = try Self.subject("ca/intermediate.pem", issuer: "ca/root.pem")
        var batch = ImportBatch()
        batch.responses = [
            .init(
                certificate: subject,
                response: OCSPResponse(der: [2]),
                lifetime: .init(since: Date.judged, until: Date.judged)
            )
        ]
        _ = try await store.add(batch, at: .judged)
        let trust = try await store.anchors.trust(
            judging: [Certificate(fixture: "alice/cert.pem")],
            systemAnchors: false
        )
        #expect(trust.responses[subject]?.der == [2])
        #expect(try await store.check().isEmpty)
    }

    @Test func `a newer response replaces an older one, not the reverse`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        try await keep([1], about: "alice", from: 0, to: 600, in: store)
        try await keep([2], about: "alice", from: 10, to: 60, in: store)
        #expect(try await kept(about: "alice", in: store) == [[2]])
        try await keep([1], about: "alice", from: 0, to: 600, in: store)
        #expect(try await kept(about: "alice", in: store) == [[2]])
    }

    @Test func `a permanent revocation stays, whatever the responder says later`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let endless = OCSPResponse.Lifetime.endless.timeIntervalSince(.judged)
        try await keep([1], about: "alice", from: 0, to: endless, in: store)
        try await keep([2], about: "alice", from: 100, to: 600, in: store, at: 100)
        try await keep([3], about: "bob", from: 0, to: 10_000_000, in: store, at: 9_000_000)
        #expect(try await kept(about: "alice", "bob", in: store) == [[1], [3]])
        #expect(try await store.tidy(at: Date.judged.addingTimeInterval(9_000_000)).isEmpty)
    }

    @Test func `ended responses are removed when another one is stored`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        try await keep([1], about: "alice", from: 0, to: 600, in: store)
        try await keep([2], about: "bob", from: 0, to: 4000, in: store)
        try await keep([3], about: "carol", from: 0, to: 9000, in: store, at: 899)
        #expect(try await kept(about: "alice", "bob", "carol", in: store) == [[1], [2], [3]])
        try await keep([3], about: "carol", from: 0, to: 9000, in: store, at: 901)
        #expect(try await kept(about: "alice", "bob", "carol", in: store) == [[2], [3]])
    }
}
