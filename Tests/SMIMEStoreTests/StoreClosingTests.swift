import Foundation
import InternetMessage
import PKIX
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// A store that is closed, or is being closed, while it is in use.
@Suite struct StoreClosingTests {
    @Test(arguments: [Store.Mode.readOnly, .readWrite])
    func `a closed store says that it is closed`(mode: Store.Mode) async throws {
        let home = try TemporaryHome()
        _ = try await home.open().add(try ImportBatch.people("alice"), at: .judged)
        let store = try await home.open(mode)
        let certificate = try Certificate(fixture: "alice/cert.pem")
        let sealed = try #require(try await store.read { try $0.sealedIdentity(certificate) })
        try await store.close()
        let closed = KeystoreError.closed(path: home.location.database)
        await #expect(throws: closed) { try await store.accounts.all() }
        await #expect(throws: closed) { try await store.accounts.open(sealed) }
        await #expect(throws: closed) { try await store.add(try ImportBatch.people("bob"), at: .judged) }
        await #expect(throws: closed) { try await store.add(ImportBatch(), at: .judged) }
        await #expect(throws: closed) { try await store.settings.set("a", to: "b") }
        await #expect(throws: closed) { try await store.protection() }
        await #expect(throws: closed) { try await store.protect(with: .keyFile, passphrase: nil) }
        await #expect(throws: closed) { try await store.check() }
        // A store on a server has no such copy.
        if home.location.server == nil {
            await #expect(throws: closed) { try await store.backup(to: "\(home.path)/copy") }
        }
        try await store.close()
    }

    @Test(.onSQLite) func `a store that does not exist can be closed`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open(.readOnly)
        try await store.close()
        await #expect(throws: KeystoreError.closed(path: home.path)) { try await store.accounts.all() }
        await #expect(throws: KeystoreError.closed(path: home.path)) { try await store.settings.set("a", to: "b") }
    }

    @Test(arguments: [Store.Mode.readOnly, .readWrite])
    func `reads during closing succeed or fail with an error`(mode: Store.Mode) async throws {
        let home = try TemporaryHome()
        _ = try await home.open().add(try ImportBatch.people("alice"), at: .judged)
        let location = home.location
        let closed = KeystoreError.closed(path: location.database)
        for _ in 0..<20 {
            let store = try await Store.open(location, mode: mode)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        await #expect(throws: closed) {
                            try await forever { try #require(await store.accounts.all().count == 1) }
                        }
                    }
                }
                for _ in 0..<2 { group.addTask { try await store.close() } }
                try await group.waitForAll()
            }
        }
    }

    @Test func `writes during closing succeed or fail with an error`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let written = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: KeystoreError.closed(path: store.location.database)) {
                    try await forever {
                        try await store.settings.set("n", to: "\(written.value + 1)")
                        written.value += 1
                        if written.value == 10 { Task { try await store.close() } }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await home.open(.readOnly).settings.value(of: "n") == "\(written.value)")
    }

    @Test func `a cancelled read ends its transaction, and leaves the store in order`() async throws {
        let home = try TemporaryHome()
        try await home.open().close()
        let store = try await home.open(.readOnly)
        let (inside, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reading = Task {
            try await store.insideTransaction(isWriting: false) {
                inside.signal()
                goOn.wait()
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                inside.wait()
                continuation.resume()
            }
        }
        reading.cancel()
        goOn.signal()
        _ = await reading.result
        #expect(try await store.settings.all() == [:])
    }

    @Test(arguments: [false, true])
    func `closing waits for running operations`(isWriting: Bool) async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let events = Locked<[String]>([])
        let (inside, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await store.insideTransaction(isWriting: isWriting) {
                    inside.signal()
                    goOn.wait()
                    events.value.append("done")
                }
            }
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    inside.wait()
                    continuation.resume()
                }
            }
            group.addTask {
                try await store.close()
                events.value.append("closed")
            }
            // The store rejects new operations before the closing task waits.
            await #expect(throws: KeystoreError.closed(path: home.location.database)) {
                try await forever { _ = try await store.settings.all() }
            }
            goOn.signal()
            try await group.waitForAll()
        }
        #expect(events.value == ["done", "closed"])
    }

    @Test func `many stores are closed at once while they are read`() async throws {
        let home = try TemporaryHome()
        try await home.open().close()
        let location = home.location
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<30 {
                group.addTask {
                    let store = try await Store.open(location, mode: .readWrite)
                    async let all = store.accounts.all()
                    try await store.close()
                    _ = try? await all
                }
            }
            try await group.waitForAll()
        }
    }

    /// Repeats `body` until it throws.
    private func forever(_ body: () async throws -> Void) async throws {
        while true { try await body() }
    }
}
