import Foundation
import GRDB
import Keystore
import Testing

@Suite struct StoreOpeningTests {
    @Test func `everybody who waits gets the same store`() async throws {
        let home = TemporaryHome()
        let opening = StoreOpening(home.location, mode: .readWrite)
        let stores = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await opening.store(within: .seconds(120)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(stores.map { ObjectIdentifier($0) }).count == 1)
    }

    @Test func `whoever waits gets the opening error itself, again and again`() async throws {
        let home = TemporaryHome()
        try FileManager.default.createSymbolicLink(atPath: home.path, withDestinationPath: "/tmp")
        let opening = StoreOpening(home.location, mode: .readWrite)
        for _ in 0..<3 {
            await #expect(throws: KeystoreError.permissions(path: home.path, why: "is a symbolic link")) {
                try await opening.store(within: .seconds(120))
            }
        }
    }

    @Test func `a deadline ends the wait for a store that does not open`() async throws {
        let home = TemporaryHome()
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
        chmod(home.path, 0o700)
        let lock = open(home.location.lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(lock, LOCK_EX) == 0)
        let location = home.location
        // One opening for each, since they give up by themselves, and a busy machine may take long between two lines.
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) {
            try await StoreOpening(home.location, mode: .readWrite).store(within: .milliseconds(50))
        }
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) {
            try await onThreads(1) {
                try StoreOpening(location, mode: .readWrite).storeNow(within: .milliseconds(50))
            }
        }
        // On its own thread nobody else keeps the caller's time.
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) {
            try await onThreads(1) {
                try StoreOpening(
                    location,
                    mode: .readWrite,
                    patience: .milliseconds(50),
                    workplace: .callersThread
                ).storeNow()
            }
        }
        flock(lock, LOCK_UN)
        close(lock)
        #expect(try await StoreOpening(home.location, mode: .readWrite).store(within: .seconds(120)).exists)
    }

    @Test
    func `on the caller's thread it opens when it is first asked for, and waits for no reader longer than it may`()
        async throws
    {
        let home = TemporaryHome()
        let location = home.location
        let early = StoreOpening(location, mode: .readOnly, workplace: .callersThread)
        try await home.open().close()
        #expect(try await early.store().exists)
        #expect(try await early.store() === early.store())
        try await early.store().close()
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        let other = try DatabaseQueue(path: location.database, configuration: configuration)
        try await other.write { try $0.execute(sql: "DELETE FROM setting") }
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) {
            try await StoreOpening(
                location,
                mode: .readOnly,
                patience: .milliseconds(50),
                workplace: .callersThread
            ).store()
        }
        try other.close()
        #expect(try await StoreOpening(location, mode: .readOnly, workplace: .callersThread).store().exists)
    }

    @Test func `a busy store can be asked for again, and one that is open is more patient`()
        async throws
    {
        let home = TemporaryHome()
        try await home.open().close()
        let other = try DatabaseQueue(path: home.location.database)
        let opening = StoreOpening(
            home.location,
            mode: .readWrite,
            patience: .milliseconds(50),
            workplace: .callersThread
        )
        let store = try await opening.store()
        let (held, given) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        DispatchQueue(label: "another writer").async {
            try? other.write { _ in
                held.signal()
                usleep(500_000)
            }
            given.signal()
        }
        _ = try await onThreads(1) {
            held.wait()
            try store.blocking(within: .seconds(120)) { try await $0.settings.set("a", to: "b") }
            given.wait()
        }
        try await store.close()
        try other.close()
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        let owner = try DatabaseQueue(path: home.location.database, configuration: configuration)
        try await owner.write { try $0.execute(sql: "DELETE FROM setting") }
        let late = StoreOpening(
            home.location,
            mode: .readOnly,
            patience: .milliseconds(50),
            workplace: .callersThread
        )
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) { try await late.store() }
        try owner.close()
        #expect(try await late.store().exists)
    }

    @Test func `callers that cannot suspend get the store, or the opening error, as often as they ask`() async throws {
        let home = TemporaryHome()
        let opening = StoreOpening(home.location, mode: .readWrite, patience: .seconds(120))
        let stores = try await onThreads(20) { try opening.storeNow() }
        #expect(Set(stores.map { ObjectIdentifier($0) }).count == 1)
        let broken = TemporaryHome()
        try FileManager.default.createSymbolicLink(atPath: broken.path, withDestinationPath: "/tmp")
        let failing = StoreOpening(broken.location, mode: .readWrite, patience: .seconds(120))
        for _ in 0..<3 {
            await #expect(throws: KeystoreError.permissions(path: broken.path, why: "is a symbolic link")) {
                try await onThreads(1) { try failing.storeNow() }
            }
        }
    }

    @Test func `a callback without suspension reads and writes, and does not wait longer than it wants`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        let value = try await onThreads(1) {
            try store.blocking(within: .seconds(120)) { store in
                try await store.settings.set("a", to: "b")
                return try await store.settings.value(of: "a")
            }
        }
        #expect(value == ["b"])
        await #expect(throws: KeystoreError.busy(path: home.path)) {
            try await onThreads(1) {
                try store.blocking(within: .milliseconds(50)) { _ in try await Task.sleep(for: .seconds(60)) }
            }
        }
    }

    @Test func `the store never waits for itself`() async throws {
        let home = TemporaryHome()
        let store = try await home.open()
        let opening = StoreOpening(store)
        for isWriting in [false, true] {
            await #expect(throws: KeystoreError.insideStore(path: home.path)) {
                try await store.insideTransaction(isWriting: isWriting) { _ = try opening.storeNow() }
            }
            await #expect(throws: KeystoreError.insideStore(path: home.path)) {
                try await store.insideTransaction(isWriting: isWriting) {
                    try store.blocking(within: .seconds(120)) { _ in }
                }
            }
        }
        #expect(try await onThreads(1) { try opening.storeNow() }.count == 1)
    }

    /// Runs `body` on `count` threads that may block.
    private func onThreads<Value: Sendable>(
        _ count: Int,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
