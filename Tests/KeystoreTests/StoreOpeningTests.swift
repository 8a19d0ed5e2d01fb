import Foundation
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
        let lock = open(home.location.lockFile, O_RDWR | O_CREAT, 0o600)
        #expect(flock(lock, LOCK_EX) == 0)
        // By a thread of its own: tasks and queues may wait long for their turn while other tests run.
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 1)
            close(lock)
        }
        let opening = StoreOpening(home.location, mode: .readWrite)
        await #expect(throws: KeystoreError.openingTimedOut(path: home.path)) {
            try await opening.store(within: .milliseconds(50))
        }
        #expect(try await opening.store(within: .seconds(120)).exists)
    }
}
