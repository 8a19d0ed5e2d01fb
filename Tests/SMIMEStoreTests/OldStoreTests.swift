import Foundation
import GRDB
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct OldStoreTests {
    private static let forms = [1, 2, 3, 5, 6, 7, 8]

    @Test(arguments: forms)
    func `a store of every older form opens and holds what it held`(form: Int) async throws {
        let home = try TemporaryHome(form: form)
        let store = try await home.open(.readOnly)
        let account = try await store.accounts.account(for: .init("alice@example.com"))
        #expect(account.identities.count == 2)
        _ = try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: Certs.time)
        #expect(try await store.recipients.certificates(for: .init("bob@example.com")).map(\.trust) == [.pinned])
        #expect(try await store.anchors.all().count == 1)
        #expect(try await store.check().isEmpty)
        guard form >= 2 else { return }
        #expect(account.name == "Alice")
        #expect(account.aliases == ["al@example.net"])
        #expect(try await store.policy.rules().count == 1)
        #expect(try await store.settings.value(of: "subject-tags") == "[secret] encrypt=require")
    }

    @Test(arguments: forms)
    func `what there is to migrate is told without changing anything`(form: Int) async throws {
        let home = try TemporaryHome(form: form)
        let before = try Data(contentsOf: URL(filePath: home.location.database))
        let pending = try #require(try await StoreMigration.pending(for: home.location))
        #expect(pending.steps.first == form + 1)
        #expect(pending.steps.last == pending.known)
        // Form 8 has the newest records, and nothing but a table is missing.
        #expect(pending.records == (form < 8 ? ["certificate": 5] : [:]))
        #expect(try Data(contentsOf: URL(filePath: home.location.database)) == before)
        try await home.open().close()
        #expect(try await StoreMigration.pending(for: home.location)?.isEmpty == true)
    }

    @Test func `every record says its form`() async throws {
        let home = try TemporaryHome(form: 1)
        try await home.open().close()
        let queue = try DatabaseQueue(path: home.location.database)
        let tables = try await queue.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'grdb_migrations'
                        AND name NOT IN (SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                            WHERE c.name = 'form')
                    """
            )
        }
        #expect(tables.isEmpty)
    }

    @Test func `records without a form, and those a killed migration left, are migrated in batches`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try Certs.batch("alice", "bob"), at: Certs.time)
        try await store.close()
        let keys = "SELECT public_key FROM certificate ORDER BY id"
        let before = try await home.query { try Data.fetchAll($0, sql: keys) }
        #expect(before.count >= 3)
        // 1200 more of them, under fingerprints of their own, so that it takes several batches.
        try await home.change(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
            INSERT INTO certificate (fingerprint, der, subject_key, issuer, serial, not_before, not_after, usage, form)
                SELECT randomblob(32), der, subject_key, issuer, serial, not_before, not_after, usage, i % 2
                FROM n, (SELECT * FROM certificate LIMIT 1);
            UPDATE certificate SET form = 0, public_key = NULL WHERE id = 2;
            """
        )
        #expect(try await StoreMigration.pending(for: home.location)?.records == ["certificate": 1201])
        // As far as opening goes by itself, and then all the rest, which may be nothing.
        let opened = try await home.open()
        _ = try await opened.migrateRecords()
        #expect(try await opened.migrateRecords().isEmpty)
        try await opened.close()
        #expect(try await StoreMigration.pending(for: home.location)?.isEmpty == true)
        #expect(try await home.query { try Data.fetchAll($0, sql: keys + " LIMIT \(before.count)") } == before)
        let missing = "SELECT count(*) FROM certificate WHERE public_key IS NULL OR subject_name IS NULL OR form <> 4"
        #expect(try await home.query { try Int.fetchOne($0, sql: missing) } == 0)
    }

    @Test func `a certificate that cannot be read any more does not hold up the others`() async throws {
        let home = try TemporaryHome(form: 2)
        try await home.change("UPDATE certificate SET der = x'3000' WHERE id = 5")
        try await home.open().close()
        #expect(try await StoreMigration.pending(for: home.location)?.isEmpty == true)
    }

    @Test func `mail to a certificate that was issued anew for the same key is opened by that key`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        var batch = try Certs.batch("alice")
        batch.recipients = [
            .init(certificate: try Certs.certificate("alice-renewed"), addresses: [try .init("alice@example.com")])
        ]
        _ = try await store.add(batch, at: Certs.time)
        // Two certificates about one key, as after a renewal that kept the key.
        try await home.change(
            "UPDATE certificate SET public_key = (SELECT public_key FROM certificate JOIN private_key ON certificate = id)"
        )
        let renewed = try Certs.certificate("alice-renewed")
        let own = try await store.accounts.decryptionKey(
            matching: [.issuerAndSerial(issuer: renewed.issuer.der, serialNumber: renewed.serialNumber)]
        )
        #expect(own?.certificate == renewed)
        #expect(own?.key.belongs(to: try Certs.certificate("alice")) == true)
    }
}
