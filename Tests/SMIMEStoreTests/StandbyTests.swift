import InternetMessage
import SMIMEStore
import TestSupport
import Testing

/// A store on a read-only server.
@Suite(.startsServer(.postgreSQL)) struct StandbyTests {
    private let entry = DeliveryJournal.Entry(queueID: "q", digest: [1])

    @Test func `a standby is read, and written once it is promoted`() async throws {
        let server = try PostgreSQLServer(settings: ["synchronous_commit = on"])
        let home = try TemporaryHome(on: server, options: "&target_session_attrs=any")
        let (writer, reader) = (try await home.open(), try await home.open(.readOnly))
        try await writer.settings.set("key", to: "1")
        #expect(!writer.journal.isOnReadOnlyServer)
        try server.becomeStandby()
        #expect(try await reader.settings.value(of: "key") == "1")
        #expect(reader.journal.isOnReadOnlyServer)
        let refusal = KeystoreError.notWritable(path: home.location.path)
        await #expect(throws: refusal) { try await writer.journal.record(["b@example.com"], of: entry, at: .judged) }
        for mode in [Store.Mode.readWrite, .readWriteExisting] {
            await #expect(throws: refusal) { try await Store.open(home.location, mode: mode) }
        }
        _ = try server.run("SELECT pg_promote()", in: "postgres")
        try await writer.journal.record(["b@example.com"], of: entry, at: .judged)
        #expect(
            try await reader.forOneMessage().journal.deliveredRecipients(of: entry).map(\.text) == ["b@example.com"]
        )
        #expect(!reader.journal.isOnReadOnlyServer)
    }

    @Test func `a database that is set to read only is one, too`() async throws {
        let home = try TemporaryHome(on: PostgreSQLServer.shared.get(), options: "&target_session_attrs=any")
        let writer = try await home.open()
        let (server, name) = try #require(home.database)
        _ = try server.run("ALTER DATABASE \(name) SET default_transaction_read_only = on", in: name)
        let refusal = KeystoreError.notWritable(path: home.location.path)
        await #expect(throws: refusal) { try await Store.open(home.location, mode: .readWriteExisting) }
        let reader = try await home.open(.readOnly)
        #expect(try await reader.forOneMessage().settings.value(of: "key") == nil)
        // A standby whose state is older than what was used before.
        let older = "BEGIN READ WRITE; UPDATE smime.change_counter SET number = 1; COMMIT"
        _ = try server.run(older, in: name)
        await #expect(throws: KeystoreError.self) {
            try await reader.forOneMessage().settings.value(of: "key")
        }
        // Another process of the service has used a newer state.
        let other = try await home.open(.readOnly)
        #expect(try await other.forOneMessage().settings.value(of: "key") == nil)
        other.noteChangeCount(reader.latestChangeCount)
        await #expect(throws: KeystoreError.self) {
            try await other.forOneMessage().settings.value(of: "key")
        }
        _ = try server.run(older.replacing("number = 1", with: "number = \(Int64.max >> 1)"), in: name)
        #expect(try await reader.forOneMessage().settings.value(of: "key") == nil)
        // Existing connections keep their access mode.
        try await writer.settings.set("key", to: "1")
    }
}
