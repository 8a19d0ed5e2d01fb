import Foundation
import GRDB
import SMIMEStore
import Testing

@Suite struct StoreOpeningTests {
    @Test func `all waiting callers get the same store`() async throws {
        let home = try TemporaryHome()
        try await home.prepare()
        let opening = StoreOpening(home.location, mode: .readWrite)
        let stores = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await opening.store(within: .seconds(120)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(stores.map { ObjectIdentifier($0) }).count == 1)
    }

    @Test func `all waiting callers get the opening error`() async throws {
        let home = try TemporaryHome()
        try FileManager.default.createSymbolicLink(atPath: home.path, withDestinationPath: "/tmp")
        let opening = StoreOpening(home.location, mode: .readWrite)
        for _ in 0..<3 {
            await #expect(throws: KeystoreError.permissions(path: home.path, why: "is a symbolic link")) {
                try await opening.store(within: .seconds(120))
            }
        }
    }

    @Test(.onSQLite) func `a deadline ends the wait for a store that does not open`() async throws {
        let home = try TemporaryHome()
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
        chmod(home.path, 0o700)
        let lock = open(home.location.lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(lock, LOCK_EX) == 0)
        let location = home.location
        // A new opening for each attempt: openings time out, and on a busy machine two lines may be far apart in time.
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) {
            try await StoreOpening(home.location, mode: .readWrite).store(within: .milliseconds(50))
        }
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) {
            try await onThreads(1) {
                try StoreOpening(location, mode: .readWrite).storeNow(within: .milliseconds(50))
            }
        }
        flock(lock, LOCK_UN)
        close(lock)
        #expect(try await StoreOpening(home.location, mode: .readWrite).store(within: .seconds(120)).exists)
    }

    @Test(.onSQLite) func `a caller waits for another process until its timeout, and can get the store afterwards`()
        async throws
    {
        let home = try TemporaryHome()
        try await home.open().close()
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        let other = try DatabaseQueue(path: home.location.database, configuration: configuration)
        try await other.write { try $0.execute(sql: "DELETE FROM setting") }
        let opening = StoreOpening(home.location, mode: .readOnly, timeout: .milliseconds(50))
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) { try await opening.store() }
        try other.close()
        do { #expect(try await opening.store(within: .seconds(120)).exists) } catch KeystoreError.busy {
            // If SQLite gave up before the other process ended, because the machine was busy.
            let later = StoreOpening(home.location, mode: .readOnly, timeout: .seconds(120))
            #expect(try await later.store().exists)
        }
    }

    @Test func `synchronous callers get the store or the opening error each time`() async throws {
        let home = try TemporaryHome()
        try await home.prepare()
        let opening = StoreOpening(home.location, mode: .readWrite, timeout: .seconds(120))
        let stores = try await onThreads(20) { try opening.storeNow() }
        #expect(Set(stores.map { ObjectIdentifier($0) }).count == 1)
        let broken = try TemporaryHome()
        try FileManager.default.createSymbolicLink(atPath: broken.path, withDestinationPath: "/tmp")
        let failing = StoreOpening(broken.location, mode: .readWrite, timeout: .seconds(120))
        for _ in 0..<3 {
            await #expect(throws: KeystoreError.permissions(path: broken.path, why: "is a symbolic link")) {
                try await onThreads(1) { try failing.storeNow() }
            }
        }
    }

    @Test func `a synchronous callback reads and writes within its timeout`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let value = try await onThreads(1) {
            try store.blocking(within: .seconds(120)) { store in
                try await store.settings.set("a", to: "b")
                return try await store.settings.value(of: "a")
            }
        }
        #expect(value == ["b"])
        await #expect(throws: KeystoreError.busy(path: home.location.path)) {
            try await onThreads(1) {
                try store.blocking(within: .milliseconds(50)) { _ in try await Task.sleep(for: .seconds(60)) }
            }
        }
    }

    @Test func `a call from inside a transaction fails instead of waiting for itself`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let opening = StoreOpening(store)
        for isWriting in [false, true] {
            await #expect(throws: KeystoreError.insideStore(path: home.location.path)) {
                try await store.insideTransaction(isWriting: isWriting) { _ = try opening.storeNow() }
            }
            await #expect(throws: KeystoreError.insideStore(path: home.location.path)) {
                try await store.insideTransaction(isWriting: isWriting) {
                    try store.blocking(within: .seconds(120)) { _ in }
                }
            }
        }
        #expect(try await onThreads(1) { try opening.storeNow() }.count == 1)
    }

    /// Runs `body` on `count` threads, which may block.
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
