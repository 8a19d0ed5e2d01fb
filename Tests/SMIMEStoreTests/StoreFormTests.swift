import Foundation
import GRDB
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite struct StoreFormTests {
    /// The schema version after the current one. Changes of a release are appended to `Schema.current.migrations` in the
    /// same way.
    private static let next = Schema(
        migrations: Schema.current.migrations + [
            [
                "CREATE TABLE note (certificate INTEGER PRIMARY KEY REFERENCES certificate, text TEXT NOT NULL) STRICT",
                "INSERT INTO note SELECT id, 'kept' FROM certificate",
            ]
        ]
    )

    private static func storeWithAlice() async throws -> TemporaryHome {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        try await store.close()
        return home
    }

    private static func version(_ home: TemporaryHome) async throws -> Int? {
        try await home.query { try Int.fetchOne($0, sql: "PRAGMA user_version") }
    }

    @Test(.onSQLite) func `every table has a column for the record form`() async throws {
        let home = try await Self.storeWithAlice()
        let tables = try await home.query { database in
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

    @Test(.onSQLite) func `a new store has the migrator's table that earlier stores have`() async throws {
        // A store with another text would count as damaged. If a version of GRDB changes the text, both must be accepted.
        let home = try await Self.storeWithAlice()
        let text = try await home.query {
            try String.fetchOne($0, sql: "SELECT sql FROM sqlite_master WHERE name = 'grdb_migrations'")
        }
        #expect(text == "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    }

    @Test(.onSQLite) func `a migration to a later form is announced and keeps all data`() async throws {
        let home = try await Self.storeWithAlice()
        let count = try await home.query { try Int.fetchOne($0, sql: "SELECT count(*) FROM certificate") }
        let before = try Data(contentsOf: URL(filePath: home.location.database))
        let pending = try #require(try await StoreMigration.pending(for: home.location, to: Self.next))
        #expect(pending.found == Schema.current.version && pending.steps == [Schema.current.version + 1])
        #expect(try Data(contentsOf: URL(filePath: home.location.database)) == before)
        try StoreMigration.run(on: home.location, to: Self.next)
        #expect(try await Self.version(home) == Schema.current.version + 1)
        #expect(try await home.query { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == count)
        #expect(try await StoreMigration.pending(for: home.location, to: Self.next)?.isEmpty == true)
        // A second run has nothing to do.
        try StoreMigration.run(on: home.location, to: Self.next)
        // A program that does not know the new schema refuses to open the store.
        let newer = await #expect(throws: KeystoreError.self) { try await home.open() }
        #expect(newer == .newer(path: home.location.database, found: pending.known, known: Schema.current.version))
    }

    @Test(.onSQLite) func `a migration that fails changes nothing`() async throws {
        let home = try await Self.storeWithAlice()
        let broken = Schema(
            migrations: Self.next.migrations + [["CREATE TABLE half (id INTEGER) STRICT", "DELETE FROM no_such_table"]]
        )
        #expect(throws: KeystoreError.self) { try StoreMigration.run(on: home.location, to: broken) }
        // The step before is complete, and the failed step has left nothing.
        #expect(try await Self.version(home) == Schema.current.version + 1)
        #expect(try await home.query { try $0.tableExists("note") && !$0.tableExists("half") })
    }

    @Test(.onSQLite, arguments: [(5, 0x534D_5354), (5, 0x534D_494D), (6, 0x534D_494D), (11, 0x534D_494D)])
    func `a store from before the first release is refused and left unchanged`(form: Int, mark: Int) async throws {
        let home = try await Self.storeWithAlice()
        try await home.change("PRAGMA user_version = \(form); PRAGMA application_id = \(mark)")
        let before = try Data(contentsOf: URL(filePath: home.location.database))
        let expected = KeystoreError.older(path: home.location.database, found: form)
        for mode in [Store.Mode.readOnly, .readWrite, .readWriteExisting] {
            let error = await #expect(throws: KeystoreError.self) { try await home.open(mode) }
            #expect(error == expected)
        }
        let error = await #expect(throws: KeystoreError.self) { try await StoreMigration.pending(for: home.location) }
        #expect(error == expected)
        #expect(try Data(contentsOf: URL(filePath: home.location.database)) == before)
    }

    @Test func `mail to a certificate that was issued anew for the same key is opened by that key`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = try ImportBatch.people("alice")
        batch.recipients = [
            .init(
                certificate: try Certificate(fixture: "alice-renewed/cert.pem"),
                addresses: [try .init("alice@example.com")]
            )
        ]
        _ = try await store.add(batch, at: .judged)
        // Two certificates with the same key, as after a renewal that kept the key.
        try await home.change(
            "UPDATE certificate SET public_key = (SELECT public_key FROM certificate JOIN private_key ON certificate = id)"
        )
        let renewed = try Certificate(fixture: "alice-renewed/cert.pem")
        let own = try await store.accounts.decryptionKey(
            matching: [.issuerAndSerial(issuer: renewed.issuer.der, serialNumber: renewed.serialNumber)]
        )
        #expect(own?.certificate == renewed)
        #expect(own?.key.belongs(to: try Certificate(fixture: "alice/cert.pem")) == true)
    }
}
