import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct RegistryTests {
    @Test func `a certificate is used once its chain leads to an anchor`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        #expect(try await reasons("alice", "mallory", in: store, anchors: []) == ["untrusted", "untrusted"])
        let root = try Certificate(fixture: "ca/root.pem")
        #expect(try await reasons("alice", "mallory", in: store, anchors: [root]) == ["selected", "untrusted"])
    }

    @Test func `a certificate is found by the first digits of its fingerprint`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.authorities(), at: .judged)
        let root = try Certificate(fixture: "ca/root.pem")
        // An odd number of digits ends within a byte.
        for count in [8, 9, 64] {
            let prefix = try #require(FingerprintPrefix(root.fingerprint.hexadecimal.prefix(count)))
            #expect(try await store.certificates(named: prefix) == [root])
        }
        let other = try #require(FingerprintPrefix("00000000"))
        #expect(try await store.certificates(named: other).isEmpty)
    }

    @Test func `a revocation list of the store excludes a certificate`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.authorities()
        let revoked = try Certificate(fixture: "revoked/cert.pem")
        batch.recipients = [.init(certificate: revoked, addresses: revoked.recipientScopes, isPinned: true)]
        _ = try await store.add(batch, at: .judged)
        let address = try #require(revoked.recipientScopes.first)
        let before = try await choice(for: address, in: store)
        #expect(before.selected?.certificate == revoked)
        batch.crls = [try CertificateList(der: Fixtures.cert("revoked/crl.der"))]
        _ = try await store.add(batch, at: .judged)
        #expect(try await choice(for: address, in: store).candidates.map(\.reason) == [.revoked])
    }

    @Test func `an intermediate as anchor is enough`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let intermediate = try Certificate(fixture: "ca/intermediate.pem")
        #expect(try await reasons("alice", "bob", in: store, anchors: [intermediate]) == ["selected", "selected"])
    }

    @Test func `a chain of six is followed, and one through an expired authority is not trusted`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.authorities()
        for number in 1...6 { batch.intermediates.append(try Certificate(fixture: "long-chain/ca\(number).pem")) }
        batch.intermediates.append(try Certificate(fixture: "expired-ca/ca.pem"))
        for name in ["long-chain", "expired-ca"] {
            let certificate = try Certificate(fixture: "\(name)/cert.pem")
            batch.recipients.append(.init(certificate: certificate, addresses: certificate.recipientScopes))
        }
        _ = try await store.add(batch, at: .judged)
        #expect(try await choice(for: .init("long-chain@example.com"), in: store).selected != nil)
        #expect(
            try await choice(for: .init("expired-ca@example.com"), in: store).candidates.map(\.reason) == [.untrusted]
        )
    }

    @Test func `addresses that differ in case or in the spelling of the domain are equal`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = ImportBatch()
        batch.recipients = [
            .init(
                certificate: try Certificate(fixture: "bob/cert.pem"),
                addresses: [try AddressScope("bob@xn--e1afmkfd.test")]
            )
        ]
        _ = try await store.add(batch, at: .judged)
        #expect(try await store.recipients.certificates(for: .init("BOB@пример.test")).count == 1)
    }

    private func reasons(_ names: String..., in store: Store, anchors: [Certificate]) async throws -> [String] {
        var batch = ImportBatch()
        batch.anchors = anchors
        batch.intermediates = [try Certificate(fixture: "ca/intermediate.pem")]
        let addresses = try names.map { try AddressScope("\($0)@example.org") }
        for (name, address) in zip(names, addresses) {
            batch.recipients.append(
                .init(certificate: try Certificate(fixture: "\(name)/cert.pem"), addresses: [address])
            )
        }
        _ = try await store.add(batch, at: .judged)
        let answer = try await RecipientLookup(store: store, systemAnchors: false).choices(
            for: addresses,
            at: Date.judged
        )
        return answer.choices.flatMap { $0.candidates.map(\.reason.rawValue) }
    }

    private func choice(for address: AddressScope, in store: Store) async throws -> RecipientChoice {
        let answer = try await RecipientLookup(store: store, systemAnchors: false).choices(
            for: [address],
            at: Date.judged
        )
        return try #require(answer.choices.first)
    }
}
