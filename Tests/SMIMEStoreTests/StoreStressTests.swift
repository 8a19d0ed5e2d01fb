import Foundation
import InternetMessage
import SMIMEStore
import Synchronization
import TestSupport
import Testing

/// Concurrent readers and writers of one store, for SMIME_TEST_STRESS seconds; the default is one.
@Suite struct StoreStressTests {
    private static let seconds = ProcessInfo.processInfo.environment["SMIME_TEST_STRESS"].flatMap { Double($0) } ?? 1
    private static let readers = 64
    private static let writers = 8

    @Test func `under load no writer starves, no update is lost, and readers see consistent states`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let address = try EmailAddress("shared@example.com")
        _ = try await store.accounts.add(address, at: .judged)
        let end = ContinuousClock.now + .seconds(Self.seconds)
        let done = try await withThrowingTaskGroup(of: Work.self) { group in
            for number in 0..<Self.writers {
                group.addTask { try await write(number, to: address, of: store, until: end) }
            }
            for _ in 0..<Self.readers {
                group.addTask { try await read(address, of: store, until: end) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let writes = done.filter(\.isWriter).map(\.count)
        let reads = done.filter { !$0.isWriter }.map(\.count)
        #expect(writes.allSatisfy { $0 > 0 }, "starved: \(writes)")
        #expect(reads.allSatisfy { $0 > 0 }, "starved: \(reads)")
        let aliases = try await store.accounts.account(for: address).aliases
        #expect(aliases.count == 2 * done.reduce(0) { $0 + $1.pairs })
        #expect(try await store.check().isEmpty)
        print("stress: \(Self.seconds) s, \(writes.reduce(0, +)) writes \(writes), \(reads.reduce(0, +)) reads")
    }

    /// The results of one task.
    private struct Work {
        var isWriter: Bool
        /// The number of transactions or reads.
        var count = 0
        /// The number of pairs of aliases that the task left in the store.
        var pairs = 0
    }

    /// Adds two aliases in each transaction; a reader who sees an odd number has seen an incomplete transaction.
    private func write(
        _ number: Int,
        to address: EmailAddress,
        of store: Store,
        until end: ContinuousClock.Instant
    ) async throws -> Work {
        var work = Work(isWriter: true)
        // A few hundred aliases are enough to read; after that, every second transaction removes what the previous one
        // added.
        repeat {
            var change = AccountChange()
            change.addedAliases = try ["a", "b"].map { try AddressScope("\($0)\(work.pairs)-\(number)@example.com") }
            _ = try await store.accounts.set(address, change)
            work.count += 1
            work.pairs += 1
            guard work.pairs > 25 else { continue }
            change.removedAliases = change.addedAliases
            change.addedAliases = []
            _ = try await store.accounts.set(address, change)
            work.count += 1
            work.pairs -= 1
        } while ContinuousClock.now < end
        return work
    }

    private func read(
        _ address: EmailAddress,
        of store: Store,
        until end: ContinuousClock.Instant
    ) async throws -> Work {
        var work = Work(isWriter: false)
        repeat {
            let aliases = try await store.accounts.account(for: address).aliases
            #expect(aliases.count.isMultiple(of: 2))
            let pairs = Set(aliases.map { $0.dropFirst() })
            #expect(pairs.count * 2 == aliases.count, "half a transaction")
            work.count += 1
        } while ContinuousClock.now < end
        return work
    }
}
