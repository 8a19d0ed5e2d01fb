import Foundation
import GRDB
import InternetMessage
import SMIMEStore
import TestSupport
import Testing

@Suite struct StoreDamageTests {
    private let home: TemporaryHome

    init() throws { home = try TemporaryHome() }

    @Test(.onSQLite) func `a newer store is refused and left unchanged`() async throws {
        try await fill()
        try change("PRAGMA user_version = 99")
        let before = try bytes()
        for mode in [Store.Mode.readOnly, .readWrite] {
            await #expect(
                throws: KeystoreError.newer(path: home.location.database, found: 99, known: Schema.current.version)
            ) {
                try await home.open(mode)
            }
        }
        #expect(try bytes() == before)
    }

    @Test(.onSQLite, arguments: [0, 1, 15, 16, 99, 100, 2048, 4095, 4096, 8192])
    func `a truncated store is refused, never taken for empty`(length: Int) async throws {
        try await fill()
        truncate(home.location.database, off_t(length))
        await expectUnusable()
    }

    @Test(.onSQLite) func `a file that is no database is refused`() async throws {
        try await fill()
        try Data(repeating: 0x41, count: 10_000).write(to: URL(filePath: home.location.database))
        chmod(home.location.database, 0o600)
        await expectUnusable()
    }

    @Test(.onSQLite) func `another program's database is refused`() async throws {
        try await fill()
        try change("PRAGMA application_id = 7")
        await expectUnusable()
    }

    @Test(.onSQLite) func `a directory in the database's place is refused`() async throws {
        try await fill()
        try FileManager.default.removeItem(atPath: home.location.database)
        try FileManager.default.createDirectory(atPath: home.location.database, withIntermediateDirectories: false)
        await expectUnusable()
    }

    @Test(.onSQLite) func `overwritten database pages are detected`() async throws {
        try await fill()
        var data = try bytes()
        for index in stride(from: 4096, to: data.count, by: 1) { data[index] = UInt8(truncatingIfNeeded: index &* 31) }
        try Data(data).write(to: URL(filePath: home.location.database))
        chmod(home.location.database, 0o600)
        await expectUnusable()
    }

    @Test func `without its key file a store shows certificates and opens no key`() async throws {
        try await fill()
        try FileManager.default.removeItem(atPath: home.location.keyFile)
        let store = try await home.open(.readOnly)
        #expect(try await store.accounts.all().count == 1)
        await #expect(throws: KeystoreError.keyMissing(path: home.location.keyFile)) {
            try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
    }

    @Test func `another store's key file is refused`() async throws {
        let other = try TemporaryHome()
        try await fill()
        try await fill(other)
        try FileManager.default.removeItem(atPath: home.location.keyFile)
        try FileManager.default.copyItem(atPath: other.location.keyFile, toPath: home.location.keyFile)
        let store = try await home.open(.readOnly)
        await #expect(throws: KeystoreError.keyMismatch(path: home.location.keyFile)) {
            try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
    }

    @Test(arguments: [0, 1, 12, 43, 45, 4096])
    func `a key file of another length is refused`(length: Int) async throws {
        try await fill()
        truncate(home.location.keyFile, off_t(length))
        let store = try await home.open(.readOnly)
        await #expect(throws: KeystoreError.corrupt(path: home.location.keyFile, detail: "is not a key file of smime"))
        {
            try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
    }

    @Test func `a private key moved to another certificate does not open`() async throws {
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice", "bob"), at: .judged)
        try await store.close()
        try await home.change(
            "UPDATE private_key SET sealed = (SELECT sealed FROM private_key ORDER BY certificate LIMIT 1)"
        )
        let reopened = try await home.open(.readOnly)
        _ = try await reopened.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        await #expect(throws: KeystoreError.self) {
            try await reopened.accounts.signingIdentity(for: .init("bob@example.com"), at: .judged)
        }
    }

    @Test(.onSQLite) func `files left by a killed creation are no obstacle`() async throws {
        try await home.open().close()
        try FileManager.default.removeItem(atPath: home.location.database)
        try Data([1, 2, 3]).write(to: URL(filePath: home.location.database + ".new"))
        try Data([1]).write(to: URL(filePath: home.location.keyFile + ".new"))
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        #expect(try await store.accounts.all().count == 1)
        #expect(!FileManager.default.fileExists(atPath: home.location.database + ".new"))
    }

    @Test(.onSQLite) func `a new store with an old key file uses that key`() async throws {
        try await home.open().close()
        let key = try Data(contentsOf: URL(filePath: home.location.keyFile))
        try FileManager.default.removeItem(atPath: home.path + "/data")
        try await home.open().close()
        #expect(try Data(contentsOf: URL(filePath: home.location.keyFile)) == key)
    }

    /// Imports Alice's identity into the store of `other`; nil means the suite's home.
    private func fill(_ other: TemporaryHome? = nil) async throws {
        let store = try await (other ?? home).open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        try await store.close()
    }

    private func change(_ sql: String) throws {
        let queue = try DatabaseQueue(path: home.location.database)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func bytes() throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: home.location.database)))
    }

    private func expectUnusable() async {
        for mode in [Store.Mode.readOnly, .readWrite] {
            await #expect(throws: KeystoreError.self) { try await home.open(mode).accounts.all() }
        }
    }
}
