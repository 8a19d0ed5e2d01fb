import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import TestSupport
import Testing

@Suite(.startsServer(.postgreSQL)) struct StoreTransferTests {
    /// An SQLite store with rows in most tables.
    private func filled() async throws -> (TemporaryHome, Store) {
        let home = try TemporaryHome(on: nil)
        let store = try await home.open()
        var batch = try ImportBatch.people("alice", "several")
        let bob = try Certificate(fixture: "bob/cert.pem")
        batch.recipients = [
            .init(certificate: bob, addresses: [try .init("bob@example.com")], isPinned: true),
            .init(certificate: bob, addresses: try (0..<700).map { try AddressScope("b\($0)@example.org") }),
        ]
        _ = try await store.add(batch, at: .judged)
        try await store.settings.set("filter.sendmail", to: "/bin/evil")
        try await store.settings.set("lookup.ldap", to: "LDAPI:///dc=example")
        try await store.settings.set("filter.tags", to: "on")
        _ = try await store.policy.set(Policy.Rule(.global, sign: .require))
        try await store.journal.record(["x@example.com"], of: .init(queueID: "q", digest: [0, 1]), at: .judged)
        return (home, store)
    }

    /// All data of a store that users can see.
    private func report(_ store: Store) async throws -> [String] {
        let accounts = try await store.accounts.all().map {
            "\($0.address) \($0.identities.map(\.certificate.fingerprint))"
        }
        let recipients = try await store.recipients.map { "\($0.address) \($0.certificate.fingerprint) \($0.trust)" }
        let settings = try await store.settings.all().sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let anchors = try await store.anchors.all().map { "\($0.certificate.fingerprint) \($0.added)" }
        let rules = try await store.policy.rules().map { "\($0)" }
        let served = try await store.journal.deliveredRecipients(of: .init(queueID: "q", digest: [0, 1])).map(\.text)
        return accounts + recipients + settings + anchors + rules + served
    }

    @Test func `a store grows to a server and comes back with equal reports`() async throws {
        let (home, store) = try await filled()
        var expected = try await report(store)
        let server = try TemporaryHome(on: PostgreSQLServer.shared.get())
        // Both stores use the same key file.
        let address = try #require(server.location.server)
        let there = home.location.on(address)
        let counts = try await store.copy(to: there)
        #expect(counts["recipient"] == 705 && counts["private_key"] == 2)
        let shared = try await Store.open(there, mode: .readWrite)
        expected.removeAll { ["filter.sendmail /bin/evil", "lookup.ldap LDAPI:///dc=example"].contains($0) }
        let left = "SELECT count(*) FROM smime.setting WHERE key IN ('filter.sendmail', 'lookup.ldap')"
        #expect(try await server.number(left) == 0)
        #expect(try await report(shared) == expected)
        #expect(try await shared.check().isEmpty)
        _ = try await shared.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        // New rows do not reuse the row ids of copied rows.
        _ = try await shared.add(try ImportBatch.people("bob"), at: .judged)
        let back = try TemporaryHome(on: nil)
        _ = try await shared.copy(to: back.location)
        try FileManager.default.createDirectory(atPath: back.location.keyFolder, withIntermediateDirectories: true)
        try? FileManager.default.removeItem(atPath: back.location.keyFile)
        try FileManager.default.copyItem(atPath: home.location.keyFile, toPath: back.location.keyFile)
        let returned = try await back.open(.readOnly)
        #expect(try await report(returned) == report(shared))
        _ = try await returned.accounts.signingIdentity(for: .init("bob@example.com"), at: .judged)
    }

    @Test func `a store that is there is not overwritten`() async throws {
        let (home, store) = try await filled()
        let server = try TemporaryHome(on: PostgreSQLServer.shared.get())
        let there = home.location.on(try #require(server.location.server))
        #expect(try await Store.create(there))
        let occupied = KeystoreError.occupied(path: there.path)
        await #expect(throws: occupied) { try await store.copy(to: there) }
        let shared = try await Store.open(there, mode: .readOnly)
        #expect(try await shared.accounts.all().isEmpty)
        await #expect(throws: KeystoreError.occupied(path: home.location.path)) {
            try await shared.copy(to: home.location)
        }
        #expect(try await store.accounts.all().count == 4)
    }

    @Test func `who writes into the shared database chooses no program on a gateway, nor in a copy in a file`()
        async throws
    {
        let server = try TemporaryHome(on: PostgreSQLServer.shared.get())
        let store = try await server.open()
        for name in HostSettings.names {
            await #expect(throws: KeystoreError.self) { try await store.settings.set(name, to: "/bin/evil") }
            try await server.change("INSERT INTO setting (key, value) VALUES ('\(name)', '/bin/evil')")
        }
        try await server.change("INSERT INTO setting (key, value) VALUES ('lookup.ldap', 'ldapi:///dc=evil')")
        try await server.change("INSERT INTO setting (key, value) VALUES ('filter.tags', 'on')")
        #expect(try await store.settings.all() == ["filter.tags": "on"])
        // In a store in a file these settings would take effect.
        let copy = try TemporaryHome(on: nil)
        #expect(try await store.copy(to: copy.location)["setting"] == 1)
        #expect(try await copy.open(.readOnly).settings.all() == ["filter.tags": "on"])
    }

    @Test func `a copy between files keeps the settings of the host`() async throws {
        let (_, store) = try await filled()
        let copy = try TemporaryHome(on: nil)
        _ = try await store.copy(to: copy.location)
        #expect(try await copy.open(.readOnly).settings.value(of: "filter.sendmail") == "/bin/evil")
    }

    @Test func `a dump of the database opens no key`() async throws {
        let (home, store) = try await filled()
        let server = try TemporaryHome(on: PostgreSQLServer.shared.get())
        let address = try #require(server.location.server)
        _ = try await store.copy(to: home.location.on(address))
        // The same database, opened from a host without the key file.
        let stolen = try await Store.open(server.location, mode: .readOnly)
        await #expect(throws: KeystoreError.keyMissing(path: server.location.keyFile)) {
            try await stolen.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
        let key = try Data(contentsOf: URL(filePath: home.location.keyFile)).suffix(32)
        let (engine, name) = try #require(server.database)
        let dump = try engine.run("SELECT sealed FROM protector UNION ALL SELECT sealed FROM private_key", in: name)
        #expect(!dump.contains(key.map { String(format: "%02x", $0) }.joined()))
    }

    @Test func `the key comes from a file elsewhere, a credential, or a program`() async throws {
        let (home, store) = try await filled()
        try await store.close()
        let key = try Data(contentsOf: URL(filePath: home.location.keyFile))
        let elsewhere = home.path + "/elsewhere.key"
        try FileManager.default.moveItem(atPath: home.location.keyFile, toPath: elsewhere)
        let credential = home.path + "/credential"
        try key.base64EncodedData().write(to: URL(filePath: credential))
        let program = home.path + "/program"
        try Data("#!/bin/sh\n[ $# = 0 ] && base64 '\(elsewhere)'\n".utf8).write(to: URL(filePath: program))
        chmod(program, 0o700)
        for source in [StoreKeySource.file(elsewhere), .credential(credential), .program(program)] {
            let store = try await Store.open(home.location.opened(by: source), mode: .readWrite)
            _ = try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
            #expect(try await store.check().allSatisfy { $0.level != .error })
            if source != .file(elsewhere) {
                await #expect(throws: KeystoreError.notWritable(path: store.location.keyFile)) {
                    try await store.rekey(passphrase: nil, at: .now)
                }
            }
        }
        #expect(try Data(contentsOf: URL(filePath: elsewhere)) == key)
        let silent = try await Store.open(home.location.opened(by: .program("/bin/false")), mode: .readOnly)
        let error = await #expect(throws: KeystoreError.self) {
            try await silent.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
        #expect("\(try #require(error))".hasPrefix("/bin/false: cannot open the store"))
    }

    @Test func `the source of the key is the first that is named`() {
        let environment = ["SMIME_STORE_KEY_FILE": "/e", "CREDENTIALS_DIRECTORY": "/c"]
        func source(file: String?, program: String?, environment names: [String: String], exists: Bool = true)
            -> StoreKeySource
        {
            StoreKeySource(file: file, program: program, environment: names) { _ in exists }
        }
        #expect(source(file: "/f", program: nil, environment: environment) == .file("/f"))
        #expect(source(file: nil, program: "/p", environment: environment) == .program("/p"))
        #expect(source(file: nil, program: nil, environment: environment) == .file("/e"))
        #expect(
            source(
                file: nil,
                program: nil,
                environment: ["SMIME_STORE_KEY_COMMAND": "/k", "CREDENTIALS_DIRECTORY": "/c"]
            ) == .program("/k")
        )
        #expect(source(file: "/f", program: nil, environment: ["SMIME_STORE_KEY_COMMAND": "/k"]) == .file("/f"))
        #expect(
            source(file: nil, program: nil, environment: ["CREDENTIALS_DIRECTORY": "/c"])
                == .credential("/c/smime-store-key")
        )
        #expect(source(file: nil, program: nil, environment: ["CREDENTIALS_DIRECTORY": "/c"], exists: false) == .home)
        #expect(source(file: nil, program: nil, environment: [:]) == .home)
    }
}
