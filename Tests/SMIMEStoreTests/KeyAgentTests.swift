import ByteStreams
import Foundation
import InternetMessage
import LibCrypto
import SMIMEStore
import TestSupport
import Testing

/// The key agent, which keeps a store's key in memory: which programs get the key, and until when.
@Suite struct KeyAgentTests: ~Copyable {
    private let temporary: TemporaryFolder
    private let start = ContinuousClock.now

    init() throws { temporary = try TemporaryFolder() }

    private var folder: RuntimeFolder { RuntimeFolder(path: temporary.file("run").path) }

    private func locked(_ bytes: [UInt8]) throws -> LockedBytes {
        let key = try #require(LockedBytes(count: bytes.count))
        key.fill { $0.copy(bytes.octets) }
        return key
    }

    private func kept(_ bytes: [UInt8] = [1, 2, 3], for time: Duration = .seconds(60)) throws -> KeptKey {
        KeptKey(try locked(bytes), of: geteuid(), until: start + time)
    }

    /// Runs an agent in a thread; it ends when the test's folder is removed.
    private func run(
        _ kept: KeptKey,
        _ name: String,
        at clock: Locked<ContinuousClock.Instant>,
        logins: String = "/nonexistent"
    ) throws -> DispatchSemaphore {
        try folder.create()
        let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let folder = folder
        Thread.detachNewThread {
            let agent = try? KeyAgent(kept, named: name, in: folder)
            begun.signal()
            agent?.run(every: 10, login: LoginState(in: logins), now: { clock.value })
            ended.signal()
        }
        begun.wait()
        return ended
    }

    @Test func `Only programs of the same user get the key, and only in time`() throws {
        let (kept, user) = (try kept(), geteuid())
        let last = start + .seconds(59)
        #expect(kept.answer(KeptKey.Request.key.rawValue, from: user, at: last) == .key)
        #expect(kept.answer(KeptKey.Request.key.rawValue, from: user, at: start + .seconds(60)) == .gone)
        #expect(kept.answer(KeptKey.Request.forget.rawValue, from: user, at: last) == .gone)
        for stranger in [user + 1, 65_534, nil] {
            #expect(kept.answer(KeptKey.Request.key.rawValue, from: stranger, at: last) == .refused)
            #expect(kept.answer(KeptKey.Request.forget.rawValue, from: stranger, at: last) == .refused)
        }
        for byte in [0, 0xFF, nil] as [UInt8?] { #expect(kept.answer(byte, from: user, at: last) == .refused) }
    }

    @Test func `An agent ends when its time is over, and its socket goes with it`() throws {
        let clock = Locked(start)
        let client = KeyAgentClient(folder)
        #expect(client.key("key-a", count: 3) == nil)
        let ended = try run(try kept([7, 8, 9]), "key-a", at: clock)
        for _ in 0..<3 { #expect(client.key("key-a", count: 3)?.copied() == [7, 8, 9]) }
        clock.value = start + .seconds(61)
        ended.wait()
        #expect(client.key("key-a", count: 3) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `An agent ends when it is told to, and when its folder goes`() throws {
        let clock = Locked(start)
        let client = KeyAgentClient(folder)
        let told = try run(try kept(), "key-a", at: clock)
        #expect(client.forget("key-b") == nil)
        #expect(client.forgetAll() == (1, true))
        told.wait()
        #expect(client.forgetAll() == (0, true))
        let left = try run(try kept(), "key-a", at: clock)
        try FileManager.default.removeItem(atPath: folder.path)
        left.wait()
    }

    @Test func `A newer agent takes the place of an older one, which ends`() throws {
        let clock = Locked(start)
        let older = try run(try kept([1]), "key-a", at: clock)
        let newer = try run(try kept([2]), "key-a", at: clock)
        older.wait()
        #expect(KeyAgentClient(folder).key("key-a", count: 1)?.copied() == [2])
        #expect(KeyAgentClient(folder).forget("key-a") == true)
        newer.wait()
    }

    @Test func `A folder that others can use is neither used nor asked in`() throws {
        let clock = Locked(start)
        let ended = try run(try kept(), "key-a", at: clock)
        chmod(folder.path, 0o750)
        #expect(KeyAgentClient(folder).key("key-a", count: 3) == nil)
        #expect(KeyAgentClient(folder).forget("key-a") == false)
        #expect(KeyAgentClient(folder).forgetAll() == (0, false))
        #expect(throws: KeystoreError.self) { try folder.create() }
        chmod(folder.path, 0o700)
        #expect(KeyAgentClient(folder).forget("key-a") == true)
        ended.wait()
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.createSymbolicLink(atPath: folder.path, withDestinationPath: temporary.path)
        #expect(throws: KeystoreError.self) { try folder.create() }
    }

    @Test func `A program in another environment finds the agent, too`() throws {
        let ended = try run(try kept([7]), "key-a", at: Locked(start))
        let client = KeyAgentClient(RuntimeFolder(path: temporary.file("elsewhere").path), others: [folder])
        #expect(client.key("key-a", count: 1)?.copied() == [7])
        #expect(client.forget("key-a") == true)
        ended.wait()
        let again = try run(try kept([7]), "key-a", at: Locked(start))
        #expect(client.forgetAll() == (1, true))
        again.wait()
        #expect(client.forget("key-a") == nil)
        let user = geteuid()
        let all = RuntimeFolder.candidates(environment: ["XDG_RUNTIME_DIR": temporary.path], user: user).map(\.path)
        #expect(all.first == "\(temporary.path)/smime")
        #expect(all.last == "/tmp/smime-\(user)")
    }

    @Test func `An agent ends when its user has logged out, though its folder stays`() throws {
        let logins = temporary.file("users")
        try FileManager.default.createDirectory(at: logins, withIntermediateDirectories: true)
        let file = logins.appending(path: "\(geteuid())")
        func write(_ state: String) throws { try Data("NAME=x\nSTATE=\(state)\nRUNTIME=/run\n".utf8).write(to: file) }
        for end in ["closing", "lingering", nil] {
            try write("active")
            let ended = try run(try kept(), "key-a", at: Locked(start), logins: logins.path)
            // After two answers the agent has checked for changes.
            for _ in 0..<2 { #expect(KeyAgentClient(folder).key("key-a", count: 3) != nil) }
            if let end { try write(end) } else { try FileManager.default.removeItem(at: file) }
            ended.wait()
            #expect(KeyAgentClient(folder).key("key-a", count: 3) == nil)
        }
    }

    @Test func `Only who was logged in can log out`() throws {
        var never = LoginState(of: 1, in: temporary.path)
        let before = never.hasEnded()
        #expect(!before)
        let file = temporary.file("1")
        var login = LoginState(of: 1, in: temporary.path)
        for (state, hasEnded) in [
            ("lingering", false), ("opening", false), ("online", false), ("active", false), ("closing", true),
        ] {
            try Data("STATE=\(state)\n".utf8).write(to: file)
            let answer = login.hasEnded()
            #expect(answer == hasEnded, "\(state)")
        }
    }

    @Test func `A runtime directory of another user is not taken`() {
        let user = geteuid()
        let own = RuntimeFolder(environment: ["XDG_RUNTIME_DIR": temporary.path], user: user)
        #expect(own.path == "\(temporary.path)/smime")
        #expect(
            RuntimeFolder(environment: ["XDG_RUNTIME_DIR": temporary.path], user: user + 7).path
                == "/tmp/smime-\(user + 7)"
        )
        #expect(RuntimeFolder(environment: ["XDG_RUNTIME_DIR": "run"], user: 4_000_000).path == "/tmp/smime-4000000")
    }

    @Test func `A store asks its agent, and after a new key or passphrase none has what it needs`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        #expect(try await store.keyForAgent() == nil)
        try await store.protect(with: .passphrase, passphrase: Passphrase("right".utf8))
        let unlocked = try await Store.open(home.location, mode: .readOnly) { _ in Passphrase("right".utf8) }
        let (name, key) = try #require(try await unlocked.keyForAgent())
        try await unlocked.close()
        let clock = Locked(start)
        let ended = try run(
            KeptKey(try key.withBytes { try locked(Array($0)) }, of: geteuid(), until: start + .seconds(60)),
            name,
            at: clock
        )
        let location = home.location.opened(by: KeyAgentClient(folder))
        func sign(_ location: StoreLocation) async throws {
            let store = try await Store.open(location, mode: .readOnly) { _ in nil }
            _ = try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
            try await store.close()
        }
        try await sign(location)
        let lock = KeystoreError.locked(path: location.path, why: nil)
        await #expect(throws: lock) { try await sign(home.location) }
        _ = try await store.rekey(passphrase: Passphrase("right".utf8), at: .now)
        await #expect(throws: lock) { try await sign(location) }
        #expect(try await store.nameForAgent() != name)
        #expect(KeyAgentClient(folder).forget(name) == true)
        ended.wait()
    }
}
