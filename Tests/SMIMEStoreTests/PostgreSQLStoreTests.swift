import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// The properties that only a store on a server has.
@Suite(.startsServer(.postgreSQL)) struct PostgreSQLStoreTests {
    private func home() throws -> TemporaryHome { try TemporaryHome(on: PostgreSQLServer.shared.get()) }

    @Test(arguments: [Store.Mode.readOnly, .readWrite, .readWriteExisting])
    func `no store is made by itself`(mode: Store.Mode) async throws {
        let home = try home()
        await #expect(throws: KeystoreError.noStore(path: home.location.path)) {
            try await Store.open(home.location, mode: mode)
        }
        #expect(try await home.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'smime'") == 0)
    }

    @Test(arguments: [3, 6, 11]) func `tables from before the first release are refused and left unchanged`(form: Int)
        async throws
    {
        let home = try home()
        try await home.prepare()
        try await home.change("UPDATE smime.store_version SET number = \(form), application_id = \(0x534D_494D)")
        let expected = KeystoreError.older(path: home.location.path, found: form)
        for mode in [Store.Mode.readOnly, .readWrite] {
            await #expect(throws: expected) { try await Store.open(home.location, mode: mode) }
        }
        await #expect(throws: expected) { try await Store.create(home.location) }
        await #expect(throws: expected) { try await StoreMigration.pending(for: home.location) }
        #expect(throws: expected) { try StoreMigration.run(on: home.location) }
        #expect(try await home.number("SELECT number FROM smime.store_version") == form)
    }

    @Test func `a host whose clock is ahead does not delete the records of deliveries of others`() async throws {
        let home = try home()
        let store = try await home.open()
        let (mine, other) = (
            DeliveryJournal.Entry(queueID: "1", digest: [1]), DeliveryJournal.Entry(queueID: "2", digest: [2])
        )
        try await store.journal.record(["a@example.com"], of: mine, at: .now)
        try await store.journal.record(["a@example.com"], of: other, at: .now.addingTimeInterval(40 * 86_400))
        #expect(try await store.journal.undelivered(["a@example.com"], for: mine).isEmpty)
        // Old records are deleted.
        try await home.change("UPDATE smime.delivery SET time = time - 31 * 86400 WHERE queue_id = '1'")
        try await store.journal.record(["a@example.com"], of: other, at: .now)
        #expect(try await home.number("SELECT count(*) FROM smime.delivery") == 1)
    }

    @Test func `of many who make it at once one does`() async throws {
        let home = try home()
        let location = home.location
        let made = try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { try await Store.create(location) } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        _ = try await home.open().add(try ImportBatch.people("alice"), at: .judged)
        let store = try await home.open(.readOnly)
        _ = try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        #expect(try await store.check().isEmpty)
    }

    @Test func `many hosts write at once, and nothing is lost`() async throws {
        let home = try home()
        try await home.prepare()
        let location = home.location
        try await withThrowingTaskGroup { group in
            for host in 0..<8 {
                group.addTask {
                    let store = try await Store.open(location, mode: .readWrite)
                    for number in 0..<20 {
                        try await store.settings.change("count") { "\((Int($0 ?? "0") ?? 0) + 1)" }
                        let entry = DeliveryJournal.Entry(queueID: "\(host)", digest: [UInt8(number)])
                        try await store.journal.record(["bob@example.com"], of: entry, at: .judged)
                    }
                    _ = try await store.add(try ImportBatch.people("alice", "bob"), at: .judged)
                    try await store.close()
                }
            }
            try await group.waitForAll()
        }
        let store = try await home.open(.readOnly)
        #expect(try await store.settings.value(of: "count") == "160")
        #expect(try await home.number("SELECT count(*) FROM delivery") == 160)
        #expect(try await store.accounts.all().map(\.identities.count) == [1, 1])
    }

    @Test func `a result that is fetched in parts is whole`() async throws {
        let home = try home()
        let store = try await home.open()
        let certificate = try Certificate(fixture: "bob/cert.pem")
        let addresses = try (0..<1201).map { try AddressScope("user\($0)@example.org") }
        var batch = ImportBatch()
        batch.recipients = [.init(certificate: certificate, addresses: addresses)]
        _ = try await store.add(batch, at: .judged)
        let found = try await store.recipients.map { $0.address.text }
        #expect(found == addresses.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    @Test func `a change by one host is seen by the next message of another, which asks once`() async throws {
        let server = try PostgreSQLServer(settings: ["log_statement = all"])
        let home = try TemporaryHome(on: server)
        let writer = try await home.open()
        let reader = try await home.open(.readOnly)
        func value() async throws -> String? { try await reader.forOneMessage().settings.value(of: "key") }
        #expect(try await value() == nil)
        try await writer.settings.set("key", to: "1")
        #expect(try await value() == "1")
        func statements() throws -> Int {
            let log = try String(contentsOfFile: server.folder + "/log", encoding: .utf8)
            return log.split(separator: "\n").count { $0.contains("execute") || $0.contains("statement:") }
        }
        let before = try statements()
        for _ in 0..<5 { #expect(try await value() == "1") }
        #expect(try statements() == before + 5)
        // The record of deliveries is sent with that query.
        let entry = DeliveryJournal.Entry(queueID: "q", digest: [1])
        try await writer.journal.record(["b@example.com"], of: entry, at: .judged)
        _ = try await reader.forOneMessage().journal.deliveredRecipients(of: entry)
        let recorded = try statements()
        for _ in 0..<5 {
            let message = reader.forOneMessage()
            #expect(
                try await message.journal.undelivered(["a@example.com", "b@example.com"], for: entry) == [
                    "a@example.com"
                ]
            )
            let other = DeliveryJournal.Entry(queueID: "r", digest: [1])
            #expect(try await reader.forOneMessage().journal.deliveredRecipients(of: other).isEmpty)
            #expect(try await message.settings.value(of: "key") == "1")
        }
        #expect(try statements() == recorded + 10)
    }

    @Test func `a server that starts again in mid-traffic loses nothing that was recorded`() async throws {
        let server = try PostgreSQLServer(settings: ["fsync = on", "synchronous_commit = on"])
        let home = try TemporaryHome(on: server)
        let store = try await home.open()
        let recorded = Locked<Set<UInt8>>([])
        let failed = Locked(0)
        try await withThrowingTaskGroup { group in
            group.addTask {
                for number in UInt8(0)..<200 {
                    let entry = DeliveryJournal.Entry(queueID: "q", digest: [number])
                    do throws(KeystoreError) {
                        try await store.journal.record(["bob@example.com"], of: entry, at: .judged)
                        recorded.value.insert(number)
                    } catch {
                        #expect(error.isTemporary)
                        failed.value += 1
                    }
                }
            }
            group.addTask { for _ in 0..<2 { try server.restart() } }
            try await group.waitForAll()
        }
        for number in recorded.value {
            let entry = DeliveryJournal.Entry(queueID: "q", digest: [number])
            #expect(try await store.journal.deliveredRecipients(of: entry).map(\.text) == ["bob@example.com"])
        }
        #expect(recorded.value.count + failed.value == 200 && recorded.value.count > 100)
    }

    @Test func `a role that may not write reads, and says why it does not write`() async throws {
        let home = try home()
        try await home.open().settings.set("key", to: "1")
        let (server, name) = try #require(home.database)
        _ = try server.run(
            """
            CREATE ROLE \(name) LOGIN; GRANT USAGE ON SCHEMA smime TO \(name);
            GRANT SELECT ON ALL TABLES IN SCHEMA smime TO \(name)
            """,
            in: name
        )
        let location = StoreLocation(home: home.path).on(try PostgreSQLAddress(server.url(name, role: name)))
        let store = try await Store.open(location, mode: .readWrite)
        #expect(try await store.settings.value(of: "key") == "1")
        let error = await #expect(throws: KeystoreError.self) { try await store.settings.set("key", to: "2") }
        #expect("\(try #require(error))".contains("permission denied for table setting"))
        _ = try server.run("DROP OWNED BY \(name); DROP ROLE \(name)", in: name)
    }

    @Test func `a later form is reached with everything kept, and a failing step changes nothing`() async throws {
        let home = try home()
        _ = try await home.open().add(try ImportBatch.people("alice"), at: .judged)
        let next = Schema(
            migrations: Schema.current.migrations + [
                [
                    "CREATE TABLE note (certificate INTEGER PRIMARY KEY REFERENCES certificate, text TEXT NOT NULL) STRICT",
                    "INSERT INTO note SELECT id, 'kept' FROM certificate",
                ]
            ]
        )
        let broken = Schema(
            migrations: next.migrations + [["CREATE TABLE half (id INTEGER) STRICT", "DELETE FROM no_such_table"]]
        )
        let pending = try #require(try await StoreMigration.pending(for: home.location, to: next))
        #expect(pending.steps == [Schema.current.version + 1])
        #expect(throws: KeystoreError.self) { try StoreMigration.run(on: home.location, to: broken) }
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'smime' AND tablename IN ('note', 'half')"
        #expect(try await home.number(tables) == 1)
        #expect(try await home.number("SELECT count(*) - (SELECT count(*) FROM certificate) FROM note") == 0)
        #expect(try await StoreMigration.pending(for: home.location, to: next)?.isEmpty == true)
        let newer = await #expect(throws: KeystoreError.self) { try await Store.open(home.location, mode: .readOnly) }
        #expect(newer == .newer(path: home.location.path, found: pending.known, known: Schema.current.version))
    }

    @Test func `a later form that serves this program is used, and not copied`() async throws {
        let home = try home()
        try await home.open().settings.set("key", to: "1")
        let later = Schema(
            migrations: Schema.current.migrations + [["CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT) STRICT"]],
            serves: Schema.current.version
        )
        try StoreMigration.run(on: home.location, to: later)
        let store = try await home.open(.readWrite)
        try await store.settings.set("key", to: "2")
        #expect(try await home.open(.readOnly).settings.value(of: "key") == "2")
        #expect(try await StoreMigration.pending(for: home.location)?.isEmpty == true)
        let copy = try TemporaryHome(on: nil)
        let error = await #expect(throws: KeystoreError.self) { try await store.copy(to: copy.location) }
        #expect(error == .newer(path: home.location.path, found: later.version, known: Schema.current.version))
    }

    @Test func `a table of another schema does not stand for ours`() async throws {
        let home = try home()
        let store = try await home.open()
        try await store.settings.set("key", to: "ours")
        let (server, name) = try #require(home.database)
        _ = try server.run(
            """
            CREATE SCHEMA smime_evil; CREATE TABLE public.setting (key text, value text);
            INSERT INTO public.setting VALUES ('key', 'theirs'); ALTER DATABASE \(name) SET search_path = public, smime
            """,
            in: name
        )
        #expect(try await home.open(.readOnly).settings.value(of: "key") == "ours")
    }

    @Test func `a missing server is reported in time`() async throws {
        let location = StoreLocation(home: "/nonexistent/home").on(
            try PostgreSQLAddress("postgresql:///x?host=/nonexistent")
        )
        let error = await #expect(throws: KeystoreError.self) { try await Store.open(location, mode: .readOnly) }
        guard case .unreachable(path: "postgresql:///nonexistent/x", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a sentence of libpq is not repeated`() async throws {
        // Of two servers with the same name, libpq reports both.
        let url = "postgresql:///x?host=/nonexistent,/nonexistent"
        let location = StoreLocation(home: "/nonexistent/home").on(try PostgreSQLAddress(url))
        let error = await #expect(throws: KeystoreError.self) { try await Store.open(location, mode: .readOnly) }
        let text = "\(try #require(error))"
        #expect(text.split(separator: "Is the server running").count == 2, "\(text)")
        #expect(text.split(separator: "No such file or directory").count == 2, "\(text)")
    }

    @Test(arguments: [
        ("mysql://x/y", "not a URL like postgresql://user@host/database"),
        ("postgresql://localhost/db?connect_timeout=3&strange=geheim", "does not accept the option strange"),
        ("postgresql://u:a%zz?geheim=@localhost/db", "malformed"), ("postgresql://[h/db", "malformed"),
        ("postgresql://localhost/db?target_session_attrs=prefer-standby", "outgoing mail would wait forever"),
    ])
    func `an unusable address is refused with the reason`(url: String, reason: String) throws {
        let error = #expect(throws: KeystoreError.self) { try PostgreSQLAddress(url) }
        let text = "\(try #require(error))"
        #expect(text.contains(reason) && !text.contains("geheim"), "\(text)")
    }

    @Test(arguments: ["password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"])
    func `every secret option is noticed`(option: String) {
        // libpq before version 18 knows only the first two, and refuses the others.
        let address = try? PostgreSQLAddress("postgresql://localhost/db?\(option)=geheim")
        #expect(address?.hasPassword ?? !option.hasSuffix("password"))
    }

    @Test(arguments: [
        ("postgresql://h.example/db", true), ("postgresql://h.example/db?sslmode=verify-full", true),
        ("postgresql://h.example/db?sslmode=require", false), ("postgresql://h.example/db?sslmode=disable", false),
        ("postgresql://localhost,h.example/db?sslmode=prefer", false),
        ("postgresql://localhost/db?sslmode=disable", true),
        ("postgresql://127.0.0.1/db?sslmode=disable", true),
        ("postgresql://127.0.0.1.evil.example/db?sslmode=disable", false),
        ("postgresql://localhost/db?hostaddr=192.0.2.1&sslmode=prefer", false),
        ("postgresql:///db?service=a&sslmode=allow", false),
        ("postgresql://localhost/db?service=a&sslmode=allow", false),
        ("postgresql://db.example.org/db?hostaddr=127.0.0.1&sslmode=allow", false),
        ("postgresql:///db?host=/run/postgresql&sslmode=disable", true),
        ("postgresql://h.example:port/db?nothing=1", false),
    ])
    func `a server elsewhere must prove its name`(url: String, isAllowed: Bool) {
        do throws(KeystoreError) {
            _ = try PostgreSQLAddress(url)
            #expect(isAllowed)
        } catch { #expect(!isAllowed && !error.isTemporary) }
    }

    @Test func `a password is noticed and never shown`() throws {
        let address = try PostgreSQLAddress("postgresql://u:geheim@localhost:5433/db?passfile=/x")
        #expect(address.hasPassword && address.name == "postgresql://u@localhost:5433/db")
        #expect(try PostgreSQLAddress("postgresql://localhost/db?password=geheim").hasPassword)
        #expect(try !PostgreSQLAddress("postgresql://u@localhost/db?passfile=/x").hasPassword)
        for broken in ["postgresql://u:geheim@[h/db", "postgresql://u:geheim@localhost/db?strange=geheim"] {
            let error = #expect(throws: KeystoreError.self) { try PostgreSQLAddress(broken) }
            #expect(!"\(try #require(error))".contains("geheim"))
        }
    }
}
