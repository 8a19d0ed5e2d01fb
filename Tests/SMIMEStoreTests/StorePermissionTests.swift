import Foundation
import SMIMEStore
import TestSupport
import Testing

@Suite(.onSQLite) struct StorePermissionTests {
    @Test(arguments: [false, true])
    func `a store opened for reading refuses changes, whether it exists or not`(exists: Bool) async throws {
        let home = try TemporaryHome()
        if exists { _ = try await home.open().add(try ImportBatch.people("bob"), at: .judged) }
        let store = try await home.open(.readOnly)
        let refusal = KeystoreError.notWritable(path: exists ? home.location.database : home.path)
        await #expect(throws: refusal) { try await store.policy.set(Policy.Rule(.global, encrypt: .require)) }
        await #expect(throws: refusal) { try await store.policy.unset(Policy.Rule(.global)) }
        await #expect(throws: refusal) { try await store.settings.set("a", to: "b") }
        await #expect(throws: refusal) { try await store.add(try ImportBatch.people("alice"), at: .judged) }
        await #expect(throws: refusal) { try await store.protect(with: .keyFile, passphrase: nil) }
        await #expect(throws: refusal) { try await store.rekey(passphrase: nil, at: .now) }
        #expect(try await store.policy.rules().isEmpty)
        #expect(FileManager.default.fileExists(atPath: home.path) == exists)
    }

    @Test func `new stores are private`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        for folder in ["", "data", "key"] { #expect(try home.mode(folder) == "700") }
        for file in ["data/smime.sqlite", "data/smime.sqlite-wal", "data/smime.sqlite-shm", "key/store.key", "lock"] {
            #expect(try home.mode(file) == "600", "\(file)")
        }
    }

    @Test func `an empty directory of ours is made private`() async throws {
        let home = try TemporaryHome()
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
        chmod(home.path, 0o755)
        _ = try await home.open()
        #expect(try home.mode("") == "700")
    }

    @Test func `reading a missing store creates nothing`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open(.readOnly)
        #expect(!store.exists)
        #expect(try await store.accounts.all().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: home.path))
    }

    @Test func `a store that disappeared is not created anew`() async throws {
        let home = try TemporaryHome()
        let missing = KeystoreError.missing(path: home.path)
        await #expect(throws: missing) { try await home.open(.readWriteExisting) }
        #expect(!FileManager.default.fileExists(atPath: home.path))
        try await home.open().close()
        try await home.open(.readWriteExisting).close()
        // The store has delivered mail, and its database has been deleted.
        try Data().write(to: URL(filePath: home.location.deliveryLockFile))
        chmod(home.location.deliveryLockFile, 0o600)
        try FileManager.default.removeItem(atPath: home.location.dataFolder)
        await #expect(throws: missing) { try await home.open() }
        #expect(!FileManager.default.fileExists(atPath: home.location.dataFolder))
    }

    @Test func `a delivery lock that others can change is found and refused`() async throws {
        let home = try TemporaryHome()
        try await home.open().close()
        let path = home.location.deliveryLockFile
        try Data().write(to: URL(filePath: path))
        chmod(path, 0o666)
        #expect(Store.looseFiles(of: home.location).map(\.code) == [.permissions])
        let why = "is open to others (mode 666, wanted 600)"
        await #expect(throws: KeystoreError.permissions(path: path, why: why)) { try await home.open(.readOnly) }
    }

    @Test(arguments: ["", "data", "key", "data/smime.sqlite", "key/store.key", "lock"], [0o040, 0o004])
    func `files that others can read are refused`(name: String, extra: Int) async throws {
        let home = try TemporaryHome()
        try await home.open().close()
        let path = name.isEmpty ? home.path : "\(home.path)/\(name)"
        var status = stat()
        #expect(lstat(path, &status) == 0)
        chmod(path, status.st_mode | mode_t(extra))
        for mode in [Store.Mode.readOnly, .readWrite] {
            let error = await #expect(throws: KeystoreError.self) { try await home.open(mode) }
            guard case .permissions(path, _) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test(arguments: ["", "data", "key", "data/smime.sqlite", "key/store.key", "lock"])
    func `a symbolic link is refused`(name: String) async throws {
        let home = try TemporaryHome()
        try await home.open().close()
        let path = name.isEmpty ? home.path : "\(home.path)/\(name)"
        let elsewhere = home.path + "-elsewhere"
        defer { try? FileManager.default.removeItem(atPath: elsewhere) }
        try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere)
        await #expect(throws: KeystoreError.permissions(path: path, why: "is a symbolic link")) {
            try await home.open(.readOnly)
        }
    }

    @Test func `a dangling symbolic link does not count as a missing store`() async throws {
        let home = try TemporaryHome()
        try FileManager.default.createSymbolicLink(atPath: home.path, withDestinationPath: "/nowhere/at/all")
        await #expect(throws: KeystoreError.self) { try await home.open(.readWrite) }
        let data = try TemporaryHome()
        try await data.open().close()
        try FileManager.default.removeItem(atPath: data.location.database)
        try FileManager.default.createSymbolicLink(atPath: data.location.database, withDestinationPath: "/nowhere")
        await #expect(throws: KeystoreError.self) { try await data.open(.readOnly) }
    }

    @Test func `a store below a symbolic link works`() async throws {
        let home = try TemporaryHome()
        let link = home.path + "-link"
        defer { try? FileManager.default.removeItem(atPath: link) }
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: home.path)
        let store = try await Store.open(StoreLocation(home: link + "/inner"), mode: .readWrite)
        #expect(store.exists)
    }
}
