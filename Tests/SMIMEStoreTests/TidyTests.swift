import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct TidyTests {
    @Test func `expired fetched and learned data is removed, imported data is kept`() async throws {
        var factory = try CertificateFactory()
        try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
        try factory.revoke([], by: "root", to: "old", options: "-crldays 1")
        try factory.sh("sleep 1; cp old.number new.number")
        try factory.revoke([], by: "root", to: "new", options: "-crldays 300")
        let lists = try ["old", "new"].map { try CertificateList(der: factory.bytes("\($0).crl")) }
        let root = try factory.certificate("root")
        let later = Date.now.addingTimeInterval(3 * 24 * 60 * 60)
        for isFetched in [true, false] {
            let home = try TemporaryHome()
            let store = try await home.open()
            var batch = ImportBatch()
            batch.intermediates = [root]
            if isFetched {
                batch.fetchedLists = lists.map { .init(list: $0, issuer: root) }
            } else {
                batch.crls = lists
            }
            _ = try await store.add(batch, at: .now)
            #expect(try await store.tidy(at: .now).isEmpty)
            #expect(try await store.untidied(at: later).count == (isFetched ? 1 : 0))
            #expect(try await store.tidy(at: later).map(\.code) == (isFetched ? [.ended] : []))
            #expect(try await store.anchors.revocationLists().count == (isFetched ? 1 : 2))
        }
    }

    @Test func `learned authorities are kept while a certificate needs them`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let sighting = SignerSighting(
            address: try EmailAddress("alice@example.com"),
            certificate: try Certificate(fixture: "alice/cert.pem"),
            authorities: [try Certificate(fixture: "ca/intermediate.pem")]
        )
        _ = try await store.recipients.learn([sighting], at: .judged)
        #expect(try await store.tidy(at: .now).isEmpty)
        _ = try await store.recipients.remove(try AddressScope("alice@example.com"))
        #expect(try await store.tidy(at: .now).count == 1)
        #expect(try await store.tidy(at: .now).isEmpty)
        // The same certificate, added by hand.
        _ = try await store.recipients.learn([sighting], at: .judged)
        var batch = ImportBatch()
        batch.intermediates = sighting.authorities
        _ = try await store.add(batch, at: .judged)
        _ = try await store.recipients.remove(try AddressScope("alice@example.com"))
        #expect(try await store.tidy(at: .now).isEmpty)
    }
}
