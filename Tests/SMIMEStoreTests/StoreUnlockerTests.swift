import Foundation
import InternetMessage
import LibCrypto
import SMIMEStore
import TestSupport
import Testing

/// Which source is asked for the passphrase of a locked store, and how many times.
@Suite struct StoreUnlockerTests {
    @Test func `a passphrase source with one wrong answer is not asked forever`() async throws {
        let home = try await locked()
        let asked = Locked<[Int]>([])
        let store = try await Store.open(home.location, mode: .readOnly) { attempt in
            asked.value.append(attempt)
            return Passphrase("wrong".utf8)
        }
        await #expect(throws: KeystoreError.wrongPassphrase(path: home.location.path)) {
            try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
        #expect(asked.value == [0, 1, 2, 3, 4])
    }

    @Test func `the passphrase may be right at the last attempt`() async throws {
        let home = try await locked()
        let store = try await Store.open(home.location, mode: .readOnly) { attempt in
            Passphrase((attempt == 4 ? "right" : "wrong").utf8)
        }
        _ = try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
    }

    @Test func `a passphrase source that returns nil is not asked again`() async throws {
        let home = try await locked()
        let once = try await Store.open(home.location, mode: .readOnly) { attempt in
            attempt == 0 ? Passphrase("wrong".utf8) : nil
        }
        await #expect(throws: KeystoreError.wrongPassphrase(path: home.location.path)) {
            try await once.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
        let never = try await Store.open(home.location, mode: .readOnly) { _ in nil }
        await #expect(throws: KeystoreError.locked(path: home.location.path, why: nil)) {
            try await never.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        }
    }

    @Test func `a passphrase that was wrong once is not called absent later`() async throws {
        let home = try await locked()
        let asked = Locked(0)
        let store = try await Store.open(home.location, mode: .readOnly) { _ in
            asked.value += 1
            return asked.value == 1 ? Passphrase("wrong".utf8) : nil
        }
        for _ in 0..<2 {
            await #expect(throws: KeystoreError.wrongPassphrase(path: home.location.path)) {
                try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
            }
        }
        #expect(asked.value == 3)
    }

    @Test func `simultaneous changes of the store key happen one after the other`() async throws {
        let home = try await locked()
        let first = try await Store.open(home.location, mode: .readWrite) { _ in Passphrase("right".utf8) }
        try await first.protect(with: .keyFile, passphrase: nil)
        let location = home.location
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let store = try await Store.open(location, mode: .readWrite)
                    _ = try await store.rekey(passphrase: nil, at: .now)
                    try await store.close()
                }
            }
            try await group.waitForAll()
        }
        #expect(!FileManager.default.fileExists(atPath: location.keyFile + ".next"))
        _ = try await first.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
    }

    @Test func `closing releases the passphrase source`() async throws {
        let home = try await locked()
        /// Lives as long as a client may ask for it.
        final class Secret: Sendable {}
        weak var held: Secret?
        let store: Store
        do {
            let secret = Secret()
            held = secret
            store = try await Store.open(home.location, mode: .readOnly) { _ in
                withExtendedLifetime(secret) { Passphrase("right".utf8) }
            }
        }
        _ = try await store.accounts.signingIdentity(for: .init("alice@example.com"), at: .judged)
        #expect(held != nil)
        try await store.close()
        #expect(held == nil)
    }

    /// A store with alice's key, with the passphrase "right".
    private func locked() async throws -> TemporaryHome {
        let home = try TemporaryHome()
        let store = try await home.open()
        _ = try await store.add(try ImportBatch.people("alice"), at: .judged)
        try await store.protect(with: .passphrase, passphrase: Passphrase("right".utf8))
        try await store.close()
        return home
    }
}
