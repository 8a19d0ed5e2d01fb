import Foundation
import GRDB
import InternetMessage
import PKIX
import SMIME
import SMIMEStore
import TestSupport
import Testing

/// The counter that tells other processes that their caches of the store may be outdated.
@Suite struct ChangeCounterTests {
    private let bob = "bob@example.com"

    /// How often `body` raises the change counter. On a server, where the counter grows by any number, 1 means at least once.
    private func changes(_ store: Store, _ body: () async throws -> Void) async throws -> Int64 {
        let before = try await store.read { try $0.changeCount() }
        try await body()
        let difference = try await store.read { try $0.changeCount() } - before
        return StoreEngine.isPostgreSQL ? min(difference, 1) : difference
    }

    private func sighting(at time: Date, capabilities: [UInt8]? = nil) throws -> SignerSighting {
        SignerSighting(
            address: try EmailAddress(bob),
            certificate: try Certificate(fixture: "bob/cert.pem"),
            isAnchored: true,
            capabilities: capabilities,
            signingTime: time
        )
    }

    @Test func `every change raises the change counter once`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        #expect(
            try await changes(store) { _ = try await store.add(try ImportBatch.people("alice", "bob"), at: .judged) }
                == 1
        )
        #expect(try await changes(store) { _ = try await store.add(try ImportBatch.authorities(), at: .judged) } == 1)
        #expect(try await changes(store) { try await store.settings.set("key", to: "value") } == 1)
        let policy = store.policy
        let rule = Policy.Rule(.global, sign: .require)
        #expect(try await changes(store) { _ = try await policy.set(rule) } == 1)
        let anchor = try Certificate(fixture: "ca/root.pem").fingerprint
        #expect(try await changes(store) { _ = try await store.anchors.remove([anchor]) } == 1)
    }

    @Test func `calls that change nothing or fail leave the change counter`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let batch = try ImportBatch.people("alice")
        _ = try await store.add(batch, at: .judged)
        try await store.settings.set("key", to: "value")
        #expect(try await changes(store) { _ = try await store.add(batch, at: .judged) } == 0)
        #expect(try await changes(store) { try await store.settings.set("key", to: "value") } == 0)
        #expect(try await changes(store) { _ = try await store.tidy(at: .judged) } == 0)
        let alice = try Certificate(fixture: "alice/cert.pem").fingerprint
        let failed = try await changes(store) {
            await #expect(throws: KeystoreError.self) { _ = try await store.anchors.remove([alice]) }
        }
        #expect(failed == 0)
    }

    @Test func `a later last_seen leaves the change counter, new capabilities raise it`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let learn = { @Sendable (day: Double, capabilities: [UInt8]?) in
            let time = Date.judged.addingTimeInterval(day * 86_400)
            let sighting = try sighting(at: time, capabilities: capabilities)
            #expect(try await store.recipients.learn([sighting], at: time).changesStore)
        }
        #expect(try await changes(store) { try await learn(0, nil) } == 1)
        #expect(try await changes(store) { try await learn(2, nil) } == 0)
        let recipient = try await store.recipients.certificates(for: AddressScope(bob)).first
        #expect(recipient?.lastSeen == Date.judged.addingTimeInterval(2 * 86_400))
        #expect(try await changes(store) { try await learn(4, [0x30, 0]) } == 1)
    }

    @Test func `responses raise the change counter, outages and journal entries do not`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        var batch = ImportBatch()
        batch.responses = [
            .init(
                certificate: try .init(
                    Certificate(fixture: "alice/cert.pem"),
                    issuedBy: Certificate(fixture: "ca/intermediate.pem")
                ),
                response: OCSPResponse(der: [1]),
                lifetime: .init(since: Date.judged, until: Date.judged.addingTimeInterval(60))
            )
        ]
        let answers = batch
        #expect(try await changes(store) { _ = try await store.add(answers, at: .judged) } == 1)
        batch = ImportBatch()
        batch.silentServices = ["http://a.example/"]
        let outages = batch
        #expect(try await changes(store) { _ = try await store.add(outages, at: .judged) } == 0)
        let entry = DeliveryJournal.Entry(queueID: "1", digest: [1])
        #expect(try await changes(store) { try await store.journal.record([bob], of: entry, at: .judged) } == 0)
        #expect(try await store.journal.deliveredRecipients(of: entry).map(\.text) == [bob])
    }

    @Test(.onSQLite) func `a restored copy gets a new change counter`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        let copy = home.path + "/copy.sqlite"
        try await store.backup(to: copy)
        for value in ["1", "2", "3"] { try await store.settings.set("key", to: value) }
        let before = try await store.read { try $0.changeCount() }
        _ = try await Store.restore(home.location, from: copy)
        #expect(try await store.settings.value(of: "key") == nil)
        #expect(try await store.read { try $0.changeCount() } > before)
        try await store.close()
        let number = try await home.number("SELECT number FROM change_counter")
        #expect(number > before)
    }

    @Test(.onSQLite, arguments: [Int64.max - 1, 1 << 62, Int64.min])
    func `copies with the same unreachable change counter do not get the same one`(number: Int64) async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var seen: [Int64] = []
        for name in ["one", "two", "three"] {
            try await store.settings.set("key", to: name)
            let copy = "\(home.path)/\(name).sqlite"
            try await store.backup(to: copy)
            let queue = try DatabaseQueue(path: copy)
            try await queue.write { try $0.execute(sql: "UPDATE change_counter SET number = \(number)") }
            try queue.close()
            _ = try await Store.restore(home.location, from: copy)
            seen.append(try await store.read { try $0.changeCount() })
        }
        #expect(Set(seen).count == 3)
        let limit: Int64 = 1 << 62
        #expect(seen.min() ?? -1 >= 0 && seen.max() ?? limit < limit)
    }

    @Test(.onPostgreSQL) func `a database that was set back gets change counters that it never had`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let first = try await store.read { try $0.changeCount() }
        var seen = [first]
        for _ in 0..<20 {
            try await home.change("UPDATE change_counter SET number = \(first)")
            try await store.settings.set("key", to: "\(seen.count)")
            seen.append(try await store.read { try $0.changeCount() })
        }
        #expect(Set(seen).count == seen.count)
    }

    @Test(.onSQLite) func `the largest change counter does not stop the store`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let copy = home.path + "/copy.sqlite"
        try await store.settings.set("key", to: "1")
        try await home.change("UPDATE change_counter SET number = \(Int64.max - 1)")
        try await store.backup(to: copy)
        _ = try await Store.restore(home.location, from: copy)
        #expect(try await changes(store) { try await store.settings.set("key", to: "2") } == 1)
    }
}
